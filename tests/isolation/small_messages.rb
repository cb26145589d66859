# Small messages travel without a graph. What arrives must be what a graph would have brought.
C = RubyVM::Channel.new
def trip(v) = (C << v; C.recv)
def same(v)
  w = trip(v)
  ok = w == v && w.class == v.class && w.frozen? == v.frozen? && w.inspect == v.inspect
  ok &&= w.encoding == v.encoding && w.valid_encoding? == v.valid_encoding? && w.ascii_only? == v.ascii_only? if v.is_a?(String)
  ok &&= !w.equal?(v) if [String, Array, Hash].any? { v.is_a?(_1) } && !v.frozen?
  puts "differs: #{v.inspect} -> #{w.inspect}" unless ok
  w
end

# Numbers at the edges of each width; other immediates.
[0, 1, -1, 127, 128, -128, -129, 32767, 32768, -32768, -32769, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**62 - 1, -2**62, 2**62, -2**62 - 1, 2**64].each do |n|
  same(n)
  same([n])
  same([n, -n])
  same({ n => n })
end
[nil, true, false, :a, :+, :"with space", 1.5, 0.0, 1e300, -1e-300, 5e-324, Float::INFINITY, 2r, 3i, 1..2, (1..), "a".."b"].each do |x|
  same(x)
  same([x, x])
  same({ x => x })
end
p trip([-0.0, Float::NAN]), trip(-0.0).to_s

# Strings of every length around what fits, in several encodings.
(0..300).each do |n|
  same("x" * n)
  same(["x" * n])
  same(("é" * (n / 2)))
  same({ k: "x" * n })
end
[Encoding::BINARY, Encoding::US_ASCII, Encoding::UTF_8, Encoding::UTF_16LE, Encoding::Shift_JIS, Encoding::EUC_JP].each do |e|
  same("abcd".dup.force_encoding(e))
  same("\xff\xfe\x80ab".dup.force_encoding(e))
  same(["abcd".dup.force_encoding(e)])
  same("abcd".dup.force_encoding(e).freeze)
end
same("frozen".dup.freeze)
p trip(["frozen".dup.freeze, "not".dup]).map(&:frozen?)

# Arrays and Hashes, nested, around the limits of what is small.
(0..40).each do |n|
  same(Array.new(n) { _1 })
  same(Array.new(n) { "e#{_1}" })
  same(Array.new(n) { [_1] })
  same(Array.new(n) { |i| [i, i * 1000] }.to_h)
  same(Array.new(n) { |i| ["k#{i}", i] }.to_h)
  same(Array.new(n) { |i| [:"k#{i}", "v#{i}"] }.to_h)
end
deep = 1
20.times { deep = [deep]; same(deep) }
deep = 1
20.times { |i| deep = { i => deep }; same(deep) }
h = trip({ "a" => 1, b: 2, 3 => [4], nil => nil, 1.5 => 0 })
p h["a"], h[:b], h[3], h[nil], h[1.5], h["zz"], h.keys.first.frozen?
h["new"] = 1
p h.size

# Sharing is kept, and cycles.
s = "shared".dup
a, b = trip([s, s])
p a.equal?(b)
l = [1]
x = trip([l, l, [l], { k: l }])
p x[0].equal?(x[1]), x[2][0].equal?(x[0]), x[3][:k].equal?(x[0])
c = [1]
c << c
d = trip(c)
p d[1].equal?(d)
m = {}
m[:self] = m
n = trip(m)
p n[:self].equal?(n)
o = [[1, 2], nil]
o[1] = o[0]
q = trip(o)
q[0] << 3
p q

# What a small form can't say goes the long way.
class Name < String; end
class List < Array; end
class Table < Hash; end
p trip(Name.new("n")).class, trip(List[1]).class, trip(Table[1, 2]).class
t = "with".dup
t.instance_variable_set(:@mark, [1])
p trip(t).instance_variable_get(:@mark), trip([t])[0].instance_variable_get(:@mark)
u = [1]
u.instance_variable_set(:@mark, :u)
p trip(u).instance_variable_get(:@mark)
p trip([1, 2].freeze).frozen?, trip({ a: 1 }.freeze).frozen?, trip([[1].freeze]).first.frozen?
p trip(Hash.new(7))[:missing], trip(Hash.new { |_, k| k.to_s })[:missing]
i = {}.compare_by_identity
k = "key".dup
i[k] = 1
j = trip([k, i])
p j[1].compare_by_identity?, j[1][j[0]], j[1]["key"]
p trip({ [1, "a"] => 1 })[[1, "a"]]
def keys(**kw) = trip(kw)
p keys(a: 1)
sing = "one".dup
def sing.hi = 1
[sing, [sing], { a: [sing] }, [1, $stdin.method(:read)], [Object.new.tap { def _1.x = 1 }]].each do |bad|
  C << bad
  p C.recv.class
rescue TypeError => e
  puts e.message
end
p C.size, C.queued_bytes

# Keys whose hash a program has changed.
class Symbol
  def hash = 1
end
p trip({ a: 1 })[:a]

# move: what was small is gone as well.
v = "moved".dup
C.send(v, move: true)
p C.recv
begin
  v.size
rescue => e
  p e.class
end
w = ["a".dup, 1]
C.send(w, move: true)
p C.recv, (w.size rescue $!.class)

# Weights: bounds in bytes hold for small messages.
B = RubyVM::Channel.new(bytes: 100)
sent = 0
sent += 1 while B.try_send("0123456789")
p sent.between?(2, 10), B.queued_bytes <= 100, B.size == sent
sent.times { B.recv }
p B.queued_bytes, B.size

# Between VMs, both ways, many at once: in order, none lost.
there, back = RubyVM::Channel.new, RubyVM::Channel.new
vm = RubyVM.fork(there, back) do |from, to|
  from.each { |m| to << m }
  to.close
end
kinds = ->(i) { [i, "s#{i}", "s" * (i % 100), [i, "p#{i}"], { id: i, name: "n#{i}" }, [[i], "q" * (i % 40)], i.to_f, :"s#{i % 10}", nil, [i.to_s.encode("UTF-16BE")]] }
300.times { |i| kinds.(i).each { there << _1 } }
there.close
300.times { |i| kinds.(i).each { |want| got = back.recv; raise "#{got.inspect} for #{want.inspect}" unless got == want } }
p back.each { raise "more" }.closed?
vm.join
