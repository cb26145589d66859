# A trace of one method or Proc is told neither the builtins that it calls, nor what it raises.
def traced
  [3, 1].sort
  [1].each { |x| x.to_s }
  begin
    raise "x"
  rescue
    1 + 2
  end
  other(2)
end

def other(x) = x.to_s

told = []
trace = TracePoint.new(:c_call, :c_return, :raise, :rescue, :call, :return, :b_call, :b_return, :line) { |t| told << [t.event, t.lineno, t.method_id] }
trace.enable(target: method(:traced)) { traced }
told.each { |t| p t }

told.clear
trace.enable(target: -> { traced }) { traced }
p told

told.clear
pr = proc { [2].first.to_s }
TracePoint.new(:b_call, :c_call) { |t| told << t.event }.enable(target: pr) { pr.call }
p told
