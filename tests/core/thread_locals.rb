# What threads carry.
t = Thread.new { Thread.current[:a] = 1; Thread.current["b"] = 2; Thread.stop }
Thread.pass until t.stop?
p t[:a], t["a"], t[:b], t[:c], t.key?(:a), t.key?("zz"), t.keys
t[:a] = nil
p t.keys, t.fetch(:b), t.fetch(:q, 4), t.fetch(:q) { |k| k }
p((t.fetch(:q) rescue [$!.class, $!.message]))
t.run; t.join
c = Thread.current
c[:x] = 1
p Fiber.new { [Thread.current[:x], Thread.current[:y] = 5] }.resume, c[:x], c[:y]
c.thread_variable_set(:tv, 9)
p Fiber.new { Thread.current.thread_variable_get("tv") }.resume
p c.thread_variable?(:tv), c.thread_variable?(:no), c.thread_variables
t = Thread.new { sleep }
t.name = "worker"
p t.name, t.inspect.include?("@worker"), t.name.frozen?
t.priority = 7
p t.priority
g = ThreadGroup.new
g.add(t)
p g.list == [t], t.group == g, ThreadGroup::Default.list == [Thread.current]
g.enclose
p((g.add(Thread.current) rescue [$!.class, $!.message]))
t.kill.join
p t.group.class, g.list
p t.backtrace, Thread.current.backtrace.class
t = Thread.new { Thread.current.freeze; (Thread.current[:z] = 1) rescue [$!.class, $!.message] }
p t.value
p Thread.new { $! }.value
begin
  raise "outer"
rescue
  p Thread.new { $! }.value
  q = Thread.new { begin; raise "inner"; rescue; Thread.pass; $!.message; end }
  p $!.message, q.value, $!.message
end
