# Events of methods, blocks, classes, lines and exceptions; enabling and disabling at every depth.
def foo(a, b = 2)
  x = a + b
  x.to_s
end

class Base
  def early(n)
    return :small if n < 3
    [1, 2].each { |q| return q }
  end
  define_method(:made) { |a| a + 1 }
end

events = []
see = lambda do |tp|
  value = %i[return b_return].include?(tp.event) ? tp.return_value : nil
  events << [tp.event, tp.method_id, tp.defined_class, value]
end
t = TracePoint.new(:call, :return, :b_call, :b_return, :class, :end, :raise) { |tp| see.(tp) }
show = lambda do |&b|
  events.clear
  t.enable { b.call }
  events[2..-3].each { |e| p e }
  puts
end
show.call { foo(1) }
show.call { Base.new.early(1) }
show.call { Base.new.early(5) }
show.call { begin; raise ArgumentError, "x"; rescue => e; e.message; end }

lines = []
t = TracePoint.new(:line) { |tp| lines << tp.lineno - BASE }
BASE = __LINE__
t.enable
a = 1
b = [a,
     2]
if a == 1
  c = 3
end
t.disable
d = 4
p lines.select { |l| l < 50 }, t.enabled?

seen = []
t = TracePoint.new(:call) { |tp| seen << [tp.self, tp.callee_id, tp.parameters, tp.binding.local_variables] }
t.enable { [5].each { foo(7) } }
p seen
target = []
t = TracePoint.new(:line) { |tp| target << tp.method_id }
t.enable(target: method(:foo))
foo(1)
Base.new.early(1)
t.disable
p target

begin
  t.lineno
rescue RuntimeError => e
  p e.message
end
begin
  TracePoint.new(:nope) { }
rescue ArgumentError => e
  p e.message
end
# A trace's own code is not traced, and an exception in it comes out at the event.
n = 0
t = TracePoint.new(:call) { n += 1; foo(1) }
t.enable { foo(2) }
p n
t = TracePoint.new(:call) { raise "from trace" }
begin
  t.enable { foo(2) }
rescue => e
  p e.message, t.enabled?
end
# Confined to a thread.
n = 0
t = TracePoint.new(:call) { n += 1 }
t.enable(target_thread: Thread.current) { Thread.new { foo(1) }.join }
p n
r = []
set_trace_func(proc { |event, file, line, id, binding, klass| r << [event, id] if id == :foo })
foo(1)
set_trace_func(nil)
foo(2)
p r.reject { |e, _| e.start_with?("c-") }
