# Traces see attributes, members, hooks, and what `set_trace_func` itself returns to.
class C
  attr_accessor :x
  alias y x
  alias y= x=
end
S = Struct.new(:x) { alias_method :y, :x; alias_method :y=, :x= }
[C.new, S.new].each do |obj|
  got, set = obj.method(:y), obj.method(:y=)
  log = []
  t = TracePoint.new(:c_call, :c_return) do |tp|
    next if tp.method_id == :call
    log << (tp.event == :c_call ? [tp.event, tp.method_id, tp.callee_id] : [tp.event, tp.method_id, tp.callee_id, tp.return_value])
  end
  t.enable do
    obj.x = 1
    obj.x
    obj.y = 2
    obj.y
    set.call(3)
    got.call
  end
  puts log.map(&:inspect)
end
def brk = [1].each { |x| break x + 1 }
log = []
TracePoint.new(:b_return, :return) { |tp| log << [tp.event, tp.method_id, tp.return_value] if tp.path == __FILE__ }.enable { brk }
p log
C.define_method(:stop) { break :stopped }
log = []
TracePoint.new(:call, :return) { |tp| log << [tp.event, tp.method_id] if tp.path == __FILE__ }.enable { C.new.stop }
p log
events = []
eval <<~EOF, nil, "traced"
  set_trace_func(proc { |event, file, line, id, _, klass| events << [event, line, id, klass] if file == "traced" })
  x = 1 + 1
  class Traced
    def bar = 1
  end
  set_trace_func(nil)
EOF
puts events.map(&:inspect)
def told = TracePoint.new(:line) { |t| puts t.inspect.sub(__FILE__, "") }.enable { a = 1 }
told
