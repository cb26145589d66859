# Deep-frozen graphs travel by reference; nothing but their identity shows it.
def deep(x) = Ractor.make_shareable(x)
def refused
  yield
rescue => e
  e.class
end
CLASSES = <<~'RUBY'
  Pair = Struct.new(:a, :b)
  Fact = Data.define(:x, :y)
  class Base; end
  class Pt < Base
    attr_reader :u, :v
    def initialize(u, v) = (@u, @v = u, v)
    def sum = u + v.size
    def ==(o) = o.is_a?(Pt) && u == o.u && v == o.v
  end
RUBY
eval CLASSES
there = RubyVM::Channel.new
back = RubyVM::Channel.new
echo = RubyVM.new("echo", "-e", CLASSES + <<~'RUBY').start(there, back)
  there, back = RubyVM::ARGV
  while (x = there.recv) != :stop
    back << x
  end
RUBY
send = ->(x) { there << x; back.recv }

graph = deep((0...300).map { |i| {"name" => "item #{i}", id: i, list: ["a" * 30, i * 1.5, 1e300, 2**80, 1r / 3, (1..i), 2i]} })
r = send.(graph)
p r == graph, r.equal?(graph), r[5].frozen?, r[200]["name"], r.hash == graph.hash, r[7][:list]
p send.(r).equal?(r), send.(graph).equal?(r), send.(r[3]).equal?(r[3])
x = send.([r, r[3], graph])
p x.frozen?, x[0].equal?(r), x[1].equal?(r[3]), x[2].equal?(r)

puts "-- hashes"
h = (0...500).to_h { |i| ["key#{i}", "value #{i}"] }
h.update([1, "x"] => 1, sym: 2, 2.5 => 3, 2**70 => 4, nil => 5, -0.0 => 6, Pair.new(1, "k") => 7, Fact.new(x: 1, y: [2]) => 8)
g = send.(deep(h))
p g["key77"], g[[1, "x"]], g[:sym], g[2.5], g[2**70], g[nil], g[0.0], g[Pair.new(1, "k")], g[Fact.new(x: 1, y: [2])], g == h, g.keys == h.keys
p refused { g["a"] = 1 }, refused { g.delete("key1") }, refused { g.default = 1 }, refused { def g.foo; end }, refused { g.compare_by_identity }
p g.dup.merge!(1 => 2).size, g.to_a.size, g.select { |_, v| v == 3 }, g.each_with_index.first(1)
by_identity = deep({}.compare_by_identity.tap { |t| 200.times { |i| t["k"] = i }; t[:a] = 1; t[1.5] = 2 })
z = send.(by_identity)
p z.size, z[:a], z[1.5], z[z.keys[3]], z["k"]
d = send.(deep(Hash.new("none").update((0..300).to_h { |i| [i, i.to_s] })))
p d[300], d[301]

puts "-- objects"
objs = deep((0..100).map { |i| [Pair.new(i, "s#{i}"), Fact.new(x: i, y: nil), Pt.new(i, "v#{i}"), Set[i, "e"]] })
o = send.(objs)
p o == objs, o[4].values_at(0, 1, 3), o[7][2].class.equal?(Pt), o[7][2].sum, o[7][0].b, o[7][1].with(y: 3), o[7][3].include?("e"), o[7][3].include?(7)
c = o[7][2].clone(freeze: false)
c.instance_variable_set(:@u, 100)
p c.sum, o[7][2].u, c.frozen?, o[7][0].dup.tap { |s| s.a = 0 }, o[7][0]
p refused { o[7][2].instance_variable_set(:@u, 1) }, refused { o[7][0].a = 1 }, refused { o[7][3] << 1 }, refused { o[7][3].reset }
p Marshal.load(Marshal.dump(o)) == objs, o.object_id == o.object_id

puts "-- strings"
s = send.(deep((0..200).map { |i| ["é#{i}", "\xff#{i}", "abc".b, "x#{i}".encode("UTF-16LE"), "long " * 100] }))[3]
p s.first(4).map { |t| [t.valid_encoding?, t.ascii_only?, t.length, t.encoding] }
p s[0] + s[0], s[0].sub("é", "e"), s[3].encode("UTF-8"), s[0].dup << "k", {s[0] => 1}["é3"], s[4][5, 4], (s[4].dup << "!").size, s[4].size
p refused { s[0] << "x" }, refused { s[0].force_encoding("BINARY") }, refused { s[4].clear }

puts "-- what doesn't qualify is copied"
plain = send.([graph.dup, ["u"]])
p plain[1][0].frozen?, plain[0].frozen?
shallow = (0..200).map { |i| [i.to_s] }.freeze
q = send.(shallow)
q[0] << 1
p q.frozen?, q[0], shallow[0], send.(shallow).equal?(q)
mixed = deep((0..200).map { |i| [i] } + [String, Pair])
m = send.(mixed)
p m.last(2), m.frozen?, m[5]
small = deep([[1], "two", {three: 3}])
p send.(small) == small, send.(small).frozen?

puts "-- cycles, deep and wide"
cycle = []
300.times { |i| cycle << [i, cycle] }
cycle.each(&:freeze).freeze
k = send.(cycle)
p k[299][1].equal?(k), k[7][0]
# (No collection after each step under --gc=stress.)
GC.disable
chain = nil
100_000.times { |i| chain = [i, chain].freeze }
n = 0
k = send.(chain)
(n += 1; k = k[1]) while k
p n
k = chain = nil
GC.enable

puts "-- regions in regions"
inner = send.(deep((0..200).map { |i| "inner #{i}" }))
outer = send.(deep([inner, (0..200).map { |i| "outer #{i}" }]))
p outer[0].equal?(inner), outer[1][3]
inner = nil
GC.start
p outer[0][200]
list = nil
60.times { |i| list = send.(deep([list, (0..150).map { |j| "#{i}.#{j}" }])) }
n = 0
(n += 1; list = list[0]) while list
p n
there << :stop
echo.join
