# Ractor: start, arguments, value, messages, names, errors.
r = Ractor.new(1, [2]) { |a, b| [a, b, self.class] }
p r.value, r.value
r = Ractor.new(name: "worker") { name }
p r.name, r.value
p((Ractor.new rescue [$!.class, $!.message]))
p((Ractor.new(name: 3) {} rescue [$!.class, $!.message]))
p Ractor.current == Ractor.main, Ractor.main?, Ractor.new { Ractor.main? }.value
echo = Ractor.new { while (m = Ractor.receive) != :stop do Ractor.main.send([m, Ractor.current == self]) end; :stopped }
echo << 1
echo.send("two")
p Ractor.receive, Ractor.receive
p Ractor.count
echo << :stop
p echo.value
p Ractor.count
r = Ractor.new { raise ArgumentError, "inside" }
begin
  r.value
rescue Ractor::RemoteError => e
  p e.message, e.cause.class, e.cause.message, e.ractor == r
end
p((r.join rescue $!.class))
p Ractor.new { 1 }.join.class
p Ractor::RemoteError.superclass, Ractor::ClosedError.superclass, Ractor::MovedError.superclass, Ractor::IsolationError.superclass
done = Ractor.new { 1 }
done.value
p((done << 1 rescue [$!.class, $!.message]))
# receive_if leaves the others in order.
r = Ractor.new do
  a = Ractor.receive_if { |m| m.is_a?(String) }
  [a, Ractor.receive, Ractor.receive]
end
[1, 2, "s"].each { |m| r << m }
p r.value
# Messages are copies.
s = +"text"
r = Ractor.new { Ractor.receive << " changed" }
r << s
p r.value, s
# Locals.
Ractor[:x] = 1
p Ractor[:x], Ractor.current[:x], Ractor.new { Ractor[:x] }.value
p Ractor.store_if_absent(:y) { |v| [v, 2] }, Ractor.store_if_absent(:y) { 3 }
p Ractor.current.inspect[/\A#<Ractor:#1 running>/], Ractor.new(name: "n") {}.inspect[/\A#<Ractor:#\d+ n .*ractor_basic.rb:\d+ /].nil?
