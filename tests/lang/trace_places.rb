# Where a trace of calls stands: a builtin that has not begun, or is over, is no level; a yield in a block is no call.
def places = caller_locations(2).map { |l| [l.lineno, l.base_label] }.take(3)

def run(trace, &block)
  trace.enable { [1].each { yield } }
  block
end

seen = []
trace = TracePoint.new(:c_call, :c_return) { |tp| seen << [tp.event, tp.callee_id, places] if tp.lineno == 14 }
list = [3, 1]

run(trace) do
  list.first; list.index(1)
end
seen.each { |s| p s }
calls = []
TracePoint.new(:c_call) { |tp| calls << tp.callee_id }.then { |t| run(t) { list.first } }
p calls.include?(:call), calls.include?(:first)
def lam(trace, &block) = trace.enable { [1].each { yield 1 } }
calls.clear
lam(TracePoint.new(:c_call) { |tp| calls << tp.callee_id }, &-> (x) { list.index(x) })
p calls.count(:call), calls.count(:index)
