# Rescues, fiber switches, threads, compiled scripts, the line of a written return.
BASE = __LINE__
def show(*events, &see)
  found = []
  t = TracePoint.new(*events) { |tp| found << see.(tp) }
  t.enable { yield_to_body }
  puts events.inspect
  found.each { |f| puts "  #{f.inspect}" }
end
def yield_to_body = $body.call
def body(&b) = $body = b

def rescues
  begin
    raise "a"
  rescue ArgumentError
    1
  rescue RuntimeError => e
    2
  end
end
body do
  rescues
  (raise "b" rescue 3)
  begin
    begin
      raise IOError, "c"
    rescue ArgumentError
      0
    ensure
      1
    end
  rescue IOError
  end
  Integer("7")
end
show(:rescue) { |tp| [tp.event, tp.lineno - BASE, tp.raised_exception.message, tp.method_id] }

body do
  f = Fiber.new do
    Fiber.yield 1
    2
  end
  f.resume
  f.resume
  g = Fiber.new { 1 }
  g.transfer
end
show(:fiber_switch) { |tp| [tp.event, tp.lineno == 0 ? 0 : tp.lineno - BASE, tp.self == Thread.current] }

found = []
t = TracePoint.new(:thread_begin, :thread_end) { |tp| found << [tp.event, tp.self.class, tp.lineno, tp.path, tp.method_id] }
t.enable
Thread.new { 1 }.join
Thread.new { Thread.exit }.join
t.disable
p found

body do
  eval("1 + 1", nil, "some.rb", 7)
  instance_eval("3", "other.rb")
end
show(:script_compiled) { |tp| [tp.event, tp.lineno - BASE, tp.eval_script, tp.instruction_sequence.path] }

def ret(x)
  if x
    return 1
  end
  2
end
def ensured
  return 1
ensure
  2
end
def unfinished
  raise "x"
  1
end
l = lambda do |x|
  return 3 if x
  4
end
body do
  ret(true)
  ret(false)
  ensured
  unfinished rescue 0
  l.(true)
  l.(false)
  [1].each do |x|
    next 5
    6
  end
end
show(:return, :b_return) { |tp| [tp.event, tp.method_id, tp.lineno - BASE, tp.return_value] }

# An exception in a trace of rescues comes out of the clause.
t = TracePoint.new(:rescue) { raise "from trace" }
begin
  t.enable { rescues }
rescue => e
  p e.message
end

# Another thread only.
found = []
th = Thread.new { Thread.stop; ret(true) }
Thread.pass until th.stop?
t = TracePoint.new(:call) { |tp| found << [Thread.current == th, tp.method_id] }
t.enable(target_thread: th) do
  th.run
  th.join
  ret(1)
end
p found
