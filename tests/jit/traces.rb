# TracePoint that is switched on and off while a hot loop runs.
def work(i)
  i + 1
end
def run(n)
  i = 0
  s = 0
  while i < n
    yield i
    s += work(i)
    i += 1
  end
  s
end
events = Hash.new(0)
tp = TracePoint.new(:call, :return, :line, :b_call) { |t| events[[t.event, t.method_id]] += 1 if [:work, :run].include?(t.method_id) }
p run(4000) {}
p run(4000) { |i| tp.enable if i == 2000; tp.disable if i == 2010 }
p events.sort_by(&:to_s)
events.clear
p run(4000) {}
p events
# In blocks of builtins, and for one method only.
events.clear
only = TracePoint.new(:call) { |t| events[t.method_id] += 1 }
s = 0
3000.times { |i| only.enable(target: method(:work)) if i == 1000; s += work(i); only.disable if i == 1005 }
p s, events
# c_call of what machine code calls itself.
calls = Hash.new(0)
c = TracePoint.new(:c_call) { |t| calls[t.method_id] += 1 if t.method_id == :sqrt }
a = [1, 2]
3000.times { |i| c.enable if i == 1500; Math.sqrt(a.size); c.disable if i == 1502 }
p calls
# Raised in a loop, with the lines it was raised in.
raised = []
r = TracePoint.new(:raise) { |t| raised << t.lineno }
r.enable do
  1000.times { |i| (raise TypeError if i % 250 == 0) rescue nil }
end
p raised
p ObjectSpace.each_object(Class).first.class
