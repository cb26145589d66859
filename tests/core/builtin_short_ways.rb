# What builtins do on their short ways, and beside them: join, Sets, paths, classes in texts, Marshal, Time, Struct#hash, shuffle.

puts "== Array#join"
p ["a", "bc", "", "d" * 40].join("-"), ["a", 1, -12, 0, 10**9, -(2**61), 2**70].join(","), [].join("x"), [[], [[]]].join("x")
p %w[a b].join, [1, [2, [3, ["x"]]], "y"].join("+"), [nil, :sym, 1.5].join("|")
r = ["a"]
r << r
begin
  r.join
rescue ArgumentError => e
  p e.message
end
p ["a", "é", "b"].join("-"), ["a".encode("US-ASCII"), "b"].join("").encoding, [1, 2].join.encoding, [1, "é"].join.encoding, ["a".b, "b"].join("é").encoding
p ["\xff".b, "a"].join(",").encoding
begin
  ["\xff".b, "é"].join(",")
rescue => e
  p e.class
end
begin
  ["a".encode("UTF-16LE"), "é"].join(",")
rescue => e
  p e.class, e.message
end
p ["a".encode("UTF-16LE"), "b".encode("UTF-16LE")].join.bytes
long = Array.new(3000) { |i| i % 7 == 0 ? i : "s#{i}" }
s = long.join(", ")
p s.size, s.hash == long.map(&:to_s).inject { |a, b| "#{a}, #{b}" }.hash, s.encoding, s.frozen?
parts = ["left", "right"]
one = parts.join(" ")
one << "!"
p parts, one, parts.join(" ")
single = "only"
j = [single].join
j << "x"
p single, j
class Odd
  def initialize(list) = @list = list
  def to_str
    @list[0] = "changed" if @list
    "odd"
  end
end
l = ["first", "second"]
l << Odd.new(l)
p l.join(",")
class Integer
  alias old_to_s to_s
  def to_s(*a) = "<#{old_to_s(*a)}>"
end
p [1, 2].join(",")
class Integer
  alias to_s old_to_s
end
p [1, 2].join(",")

puts "== Set"
a = Set.new(1..40)
b = Set.new(30..70)
p (a ^ b).to_a, (b ^ a).to_a, (a - b).to_a, (a ^ a).to_a, (a - a).size, (a - Set[1, 99]).to_a.first(3)
p (Set["a", "b"] ^ ["b", "c", "c"]).to_a, (Set["a".dup, :b, nil, 1.0, 1] ^ Set["a", 1, 2]).to_a
s = Set["x".dup]
t = Set["x".dup].compare_by_identity
p (s ^ t).size, (s - t).size
class Key
  attr_reader :n
  def initialize(n) = @n = n
  def hash = @n.hash
  def eql?(o) = Key === o && @n == o.n
  def inspect = "K#@n"
end
ks = Set.new((1..20).map { Key.new(_1) })
kt = Set.new((15..30).map { Key.new(_1) })
p ks ^ kt, ks - kt, Set[*ks.to_a, *kt.to_a].size
w = Set.new(1..50)
w.subtract(1..49)
w << 7 << 50 << 8
p w.to_a
w.subtract(w.to_a)
w << 3
p w.to_a, w.size
x = Set.new(1..20)
x.each { |e| x.subtract([e + 1, e + 2]) if e == 1 }
p x.to_a
p Set[*(1..100), *(50..150)].size, Set.new(["a"] * 3000).size, Set[*"a".."z", *"a".."c"].to_a.join

puts "== File"
["/a/b/c", "a", "", "/", "//", "//a", "a/", "a//b//", "/a", ".", "..", "./x", "é/ü.rb", "/usr/local/lib/x.tar.gz", ".profile", "a.b/c"].each do |f|
  p [f, File.dirname(f), File.dirname(f, 2), File.basename(f), File.basename(f, ".*"), File.basename(f, ".rb"), File.extname(f), File.split(f)]
end
p File.dirname("a/é".encode("ISO-8859-1")).encoding, File.basename("é/a".encode("ISO-8859-1")).encoding
[-> { File.dirname("a\0b") }, -> { File.dirname("a", -1) }, -> { File.join("a\0", "b") }].each do |f|
  f.call
rescue => e
  p e.class, e.message
end
class Way
  def to_path = "/x/y.z"
end
p File.dirname(Way.new), File.basename(Way.new), File.extname(Way.new), File.split(Way.new), File.join("a", Way.new), File.join("a", ["b", ["/c"]], "d/", "e")

puts "== Dir"
require "tmpdir"
Dir.mktmpdir do |d|
  p Dir.empty?(d)
  File.write("#{d}/one", "")
  p Dir.empty?(d), Dir.children(d), Dir.entries(d).sort, Dir.empty?("#{d}/one"), Dir.exist?(d)
  Dir.mkdir("#{d}/sub")
  p Dir.each_child(d).sort, Dir.glob("#{d}/*").map { File.basename(_1) }
  dir = Dir.new(d)
  n = dir.children.sort
  p n, dir.each_child.to_a.sort, dir.rewind.class, dir.read.class, dir.entries.size
  dir.close
  File.unlink("#{d}/one")
  p Dir.empty?(d)
  Dir.rmdir("#{d}/sub")
  p Dir.empty?(d)
end
begin
  Dir.empty?("a\0")
rescue => e
  p e.class
end
begin
  Dir.empty?("/nonexistent/x")
rescue => e
  p e.class, e.message
end

puts "== classes in texts"
module Outer
  class Inner
  end
end
class Éclair
end
anonymous = Class.new
refined = nil
module Shout
  refine(String) { define_method(:me) { } }
end
p "#{Object} #{Outer::Inner} #{Comparable}", "#{Object}".encoding, "a#{Object}".encoding, "#{Éclair}", "é#{Object}", "#{anonymous}".start_with?("#<Class:0x"), "#{Object.singleton_class}"
p "#{Shout.refinements[0]}", "#{anonymous.new.singleton_class}".start_with?("#<Class:#<")
one = "#{Object}"
one << "x"
p "#{Object}"
Outer.set_temporary_name("no") rescue p $!.message
temporary = Module.new.set_temporary_name("fake<name>")
p "#{temporary}"
def (Outer::Inner).to_s = "mine"
p "#{Outer::Inner} #{Outer}"
sub = Class.new(Outer::Inner)
p "#{sub}"
class Module
  alias old_to_s to_s
  def to_s = "M(#{name})"
end
p "#{Object} #{Outer::Inner} #{Comparable}"
class Module
  alias to_s old_to_s
end
p "#{Object} #{Comparable}"

puts "== Marshal"
[30, 31, 32, 40, 47, 48, 61, 62, 63, 64, 65, 100].each do |bits|
  [2**bits - 1, 2**bits, 2**bits + 1].each do |n|
    [n, -n].each { |v| raise "#{v}" unless Marshal.load(Marshal.dump(v)) == v && Marshal.load(Marshal.dump(v)).class == Integer && Marshal.load(Marshal.dump([v, v])) == [v, v] }
  end
end
seen = []
p Marshal.load(Marshal.dump([2**40, "s", 1.5, {a: -2**33}]), ->(v) { seen << v; v }), seen
p Marshal.load("\x04\bl+\x06\x01\x00"), (Marshal.load("\x04\bl+\x0a\x00") rescue $!.message)

puts "== Time"
ENV["TZ"] = "<LONGNAME12345>-3"
t = Time.at(1_700_000_000)
p t.zone, (t + 1).zone, t.utc_offset, (t + 0.5).nsec, t.inspect, Marshal.load(Marshal.dump(t)).zone
ENV["TZ"] = "Europe/Berlin"
t = Time.at(1_700_000_000)
p t.zone, (t + 200 * 86400).zone, t.dup.zone, t.localtime("+01:00").zone
ENV["TZ"] = "UTC"
p Time.at(0).zone, Time.at(0) == Time.at(0).utc, Time.at(0).hash == Time.at(0).hash

puts "== Struct#hash"
P = Struct.new(:x, :y)
Q = Struct.new(:x, :y)
p P.new(1, "a").hash == P.new(1, "a").hash, P.new(1, 2).hash == P.new(2, 1).hash, P.new(1, 2).hash == Q.new(1, 2).hash, P.new(1).hash == P.new(1, nil).hash
rec = P.new(1)
rec.y = rec
p rec.hash == rec.hash, {P.new([1], {a: 1}) => 1}[P.new([1], {a: 1})], Struct.new.new.hash.class
D = Data.define(:u)
p D.new(1).hash == D.new(1).hash, D.new(1).hash == D.new(1.0).hash

puts "== Array#shuffle"
p (1..10).to_a.shuffle(random: Random.new(42)), (1..5).to_a.sample(3, random: Random.new(1))
srand(5)
x = (1..20).to_a.shuffle
srand(5)
p x == (1..20).to_a.shuffle, x.sort == (1..20).to_a

puts "== Set#intersect?"
e = Set.new
p e.intersect?(e), e.disjoint?(Set[1]), Set[1].intersect?(e), Set[1, 2].intersect?(Set[2]), Set[2].intersect?(Set[1, 2]), Set[1].disjoint?(Set[2]), Set[1, 2].intersect?([2, 3]), Set[1].disjoint?(2..3)
class Sub < Set
end
p Set[1, 2, 3].intersect?(Sub[3]), Sub[1].intersect?(Set[1, 2])
begin
  e.intersect?(3)
rescue ArgumentError => x
  p x.message
end
class Loud
  def to_s = "loud"
end
def text(o) = "<#{o}>"
o = Loud.new
p text(o), text(Object)
def o.to_s = "own"
p text(o)
def o.to_s = "other"
p text(o)
o.singleton_class.remove_method(:to_s)
p text(o)
o.extend(Module.new { def to_s = "module's" })
p text(o)
class Loud
  def to_s = "louder"
end
p text(o), text(Loud.new)
