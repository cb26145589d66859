# make_shareable, shareable?, shareable_proc; state that CRuby's Ractor refuses.
S = Struct.new(:a, :b)
v = { list: ["a", ["b"]], s: S.new(+"x", 1..2), o: Object.new }
p Ractor.shareable?(v)
p Ractor.make_shareable(v).equal?(v), Ractor.shareable?(v), v[:list][1][0].frozen?, v[:s].frozen?, v[:o].frozen?
w = ["mutable", [+"m"]]
c = Ractor.make_shareable(w, copy: true)
p c, c.equal?(w), c[1][0].frozen?, w[1][0].frozen?
p [1, :a, nil, 1.5, 2**70, "lit".freeze, Object, Ractor.current, Ractor::Port.new, (1..2)].map { |x| Ractor.shareable?(x) }
p [[], +"s", ["x"].freeze, Thread.current, $stdout].map { |x| Ractor.shareable?(x) }
cyc = []
cyc << cyc
p Ractor.make_shareable(cyc).frozen?
p((Ractor.make_shareable(Thread.current) rescue $!.class))
x = 1
pr = Ractor.shareable_proc { [x, self] }
x = 2
p pr.call, pr.frozen?, pr.lambda?, Ractor.shareable_lambda(self: 5) { self + 1 }.call
y = +"str"
p((Ractor.shareable_proc { y } rescue [$!.class, $!.message]))
# Mutable constants, class variables and globals: each Ractor has its own.
LOG = []
$count = 0
class Tally
  @@n = 0
  @list = []
  class << self; attr_reader :list; end
  def self.add(x) = (@@n += x; @list << x; LOG << x; $count += 1; [@@n, @list.size, LOG.size, $count])
end
Tally.add(5)
outer = [1]
p 4.times.map { |i| Ractor.new(i) { |k| outer << k; Tally.add(k) + [outer] } }.map(&:value)
p Tally.list, LOG, $count, outer
p((Ractor.new { Ractor::MovedObject.instance_method(:method_missing).class }.value))
