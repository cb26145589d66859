# Ractor: ends of every kind, threads inside, nesting, many of them, handles that travel, local storage.
def cause_of
  yield
rescue Ractor::RemoteError => e
  [e.cause.class, e.cause.message]
end
p cause_of { Ractor.new { exit 3 }.value }
p cause_of { Ractor.new { Thread.new { exit }.join }.value }
p cause_of { Ractor.new { t = Thread.current; Thread.new { t.kill }.join; sleep }.value }
p Ractor.new { t = Thread.current; begin; Thread.new { t.raise "err" }.join; rescue => e; e.message; end }.value
p Ractor.new { Thread.report_on_exception = false; Thread.new { raise "not seen" }; sleep 0.01; :ok }.value
# Threads of a Ractor end with it; their ensure clauses run.
Ractor.new(Ractor.current) do |main|
  q = Thread::Queue.new
  Thread.new { q << 1; sleep } .tap { }
  Thread.new { begin; q << 1; loop {}; ensure; main << :a; end }
  Thread.new { begin; q << 1; sleep; ensure; main << :b; end }
  3.times { q.pop }
end.join
p 2.times.map { Ractor.receive }.sort
# Causes cross whole.
r = Ractor.new do
  begin
    raise KeyError, "inner"
  rescue
    raise ArgumentError, "outer"
  end
end
begin
  r.value
rescue Ractor::RemoteError => e
  p e.cause.class, e.cause.cause.class, e.cause.cause.message, e.ractor.equal?(r), e.cause.backtrace.class
end
# Results that can't be sent.
p((Ractor.new { Thread.current }.value rescue $!.class))
p((Ractor.new(Thread.current) { |t| t.alive? }.value rescue $!.class))
# Ractors in Ractors.
p Ractor.new { Ractor.new { Ractor.new { [Ractor.main?, Ractor.main == Ractor.current] }.value + [:deeper] }.value }.value
outer = Ractor.new(Ractor::Port.new) { |port| Ractor.new(port) { |inner| inner << [:from, :inner] }.join; :outer }
p outer.value
port = Ractor::Port.new
Ractor.new(port) { |out| Ractor.new(out) { |inner| inner << [:from, :inner] }.join }.join
p port.receive
# One that nobody ever takes.
forgotten = Ractor.new { Ractor.yield 1 }
p forgotten.name, Ractor.count
p forgotten.take, forgotten.join.equal?(forgotten), Ractor.count
# Handles.
p((Ractor.allocate rescue [$!.class, $!.message]), (Ractor.new { 1 }.dup rescue [$!.class, $!.message]))
p((Ractor.current.receive rescue $!.class))
p Ractor.new { Ractor.main << :hello; receive }.tap { |x| x << Ractor.receive }.value
Ractor[:thing] = Thread.new {}
p Ractor.new(Ractor.current) { |main| main == Ractor.main }.value
other = Ractor.new { Ractor.receive }
p((other[:x] rescue $!.message), (other.[]=(:x, 1) rescue $!.message))
other << 1
p((Ractor[3] rescue [$!.class, $!.message]))
Ractor["name"] = 5
p Ractor[:name], Ractor.new { [Ractor[:name], Ractor[:thing]] }.value
calls = 0
p 5.times.map { |i| Thread.new { Ractor.store_if_absent(:once) { calls += 1; Thread.pass; i } } }.map(&:value).uniq.size, calls
# Ports.
p port.close.equal?(port), port.closed?, (port << 1 rescue [$!.class, $!.message]), (port.receive rescue $!.class), (Ractor::Port.new(1) rescue $!.class)
p Ractor.new(Ractor::Port.new) { |x| [(x.receive rescue $!.message), (x.close rescue $!.message)] }.value
p((Ractor.new(name: "a".encode("UTF-16LE")) {} rescue [$!.class, $!.message]))
p Ractor.new(name: "N") { 1 }.tap(&:join).inspect[/\A#<Ractor:#\d+ N .*ractor_more.rb:\d+ terminated>\z/].nil?
# Many.
n = ENV["ZAKURO_TEST_SCALE"] == "small" ? 30 : 1000
p Array.new(n) { |i| Ractor.new(i) { |x| x * 2 } }.sum(&:value) == n * (n - 1)
list = Array.new(20) { |i| Ractor.new(i) { |x| x } }
seen = []
until list.empty?
  r, v = Ractor.select(*list)
  list.delete(r)
  seen << v
end
p seen.sort == (0...20).to_a
p RubyVM.fork { exit 2 }.value
