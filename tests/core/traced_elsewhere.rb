# A trace begins in code that waits at that moment in another thread or fiber; calls that natives make in the program's place are told.
lines = []
ready, go = Thread::Queue.new, Thread::Queue.new
other = Thread.new do
  ready << 1; go.pop
  _a = 1
  _b = 2
end
ready.pop
first = __LINE__ - 4
TracePoint.new(:line) { |tp| lines << tp.lineno - first }.enable(target_thread: other) do
  go << 1
  other.join
end
p lines

lines.clear
fiber = Fiber.new do
  Fiber.yield
  _a = 1
  _b = 2
end
fiber.resume
first = __LINE__ - 4
trace = TracePoint.new(:line) { |tp| lines << tp.lineno - first if tp.lineno < first + 3 }
trace.enable
fiber.resume
trace.disable
p lines

def calls(&block)
  told = []
  TracePoint.new(:c_call, :c_return) { |tp| told << [tp.event, tp.method_id] }.enable(&block)
  told
end
p calls { NoSuchConstant rescue 1 }.select { |_, n| n == :const_missing }
p calls { no_such_method rescue 1 }.select { |_, n| n == :method_missing }
class Plain; end
p calls { Plain.new }
p calls { raise TypeError, "x" rescue 1 }.map(&:last).uniq & [:exception, :initialize]

block = proc { }
o = Object.new
o.define_singleton_method(:one, &block)
o.define_singleton_method(:two, &block)
told = []
TracePoint.new(:call, :return) { |tp| told << [tp.event, tp.method_id] }.enable(target: o.method(:one)) { o.one; o.two }
p told
