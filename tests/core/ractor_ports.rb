# Ports, select, monitor, and the older take and yield.
port = Ractor::Port.new
r = Ractor.new(port) { |to| 3.times { |i| to << i }; :end }
p 3.times.map { port.receive }
p r.value
p((Ractor.new(port) { |x| x.receive }.value rescue [$!.cause.class, $!.cause.message]))
a, b = Ractor::Port.new, Ractor::Port.new
Ractor.new(b) { |x| x << :hello }.join
got, v = Ractor.select(a, b)
p got == b, v
a.close
p a.closed?, ((a << 1) rescue [$!.class, $!.message])
r = Ractor.new { Ractor.receive; 10 }
ended = Ractor::Port.new
p r.monitor(ended)
r << 1
p ended.receive, r.value
p r.monitor(ended), ended.receive
bad = Ractor.new { Ractor.receive; raise "x" }
bad.monitor(ended)
bad << 1
p ended.receive, (bad.value rescue $!.cause.message)
quiet = Ractor.new { Ractor.receive }
quiet.monitor(ended)
quiet.unmonitor(ended)
quiet << 1
quiet.join
p ended.__channel.size
rs = 3.times.map { |i| Ractor.new(i) { |x| x * 10 } }
seen = []
until rs.empty?
  r, v = Ractor.select(*rs)
  rs.delete(r)
  seen << v
end
p seen.sort
# take and yield
gen = Ractor.new { 3.times { |i| Ractor.yield(i) }; :last }
p 4.times.map { gen.take }
p((gen.take rescue [$!.class, $!.message]))
gen = Ractor.new { Ractor.yield(:y); :z }
p Ractor.select(gen)[1], Ractor.select(gen)[1]
p((Ractor.select rescue [$!.class, $!.message]))
# A pipeline of Ractors, handles in messages.
last = Ractor.current
10.times { last = Ractor.new(last) { |to| to << Ractor.receive + 1 } }
last << 0
p Ractor.receive
workers = 4.times.map { Ractor.new { n, back = Ractor.receive; back << [n, (1..n).sum] } }
results = Ractor::Port.new
workers.each_with_index { |w, i| w << [i + 1, results] }
p 4.times.map { results.receive }.sort
