# Copies share what they hold until one is written; the hooks of copying are called when a program has its own.
s = "a" * 40
d = s.dup
d << "b"
p s.size, d.size, s
t = ("x" * 50).freeze
u = t.dup
u[0] = "y"
p t, u, u.frozen?, t.clone.frozen?
e = ("é" * 30).dup
f = e.clone
f.upcase!
p e, f, e.valid_encoding?, f.encoding
b = "\xff".b * 40
p b.dup.encoding, b.dup == b, b.dup.force_encoding("UTF-8").valid_encoding?
i = "z" * 30
i.instance_variable_set(:@v, 1)
p i.dup.instance_variable_get(:@v)

a = [1, 2, 3, 4, 5, 6, 7]
c = a.dup
c[0] = 9
c << 8
p a, c
c = a.clone
c.shift
a.push(0)
p a, c
h = Hash.new { |_, k| k * 2 }.merge!(a: 1)
g = h.dup
g[:b] = 2
p h, g, g[4], h.compare_by_identity.dup.compare_by_identity?

class Loud < String
  def initialize_copy(other) = (puts "copy of #{other}"; super)
end
p Loud.new("loud").dup, Loud.new("loud").clone.class
class LoudArray < Array
  def initialize_dup(other) = (puts "dup"; super)
  def initialize_clone(other, freeze: nil) = (puts "clone #{freeze.inspect}"; super)
end
p LoudArray[1, 2].dup, LoudArray[1].clone(freeze: true).frozen?
class LoudHash < Hash
  def initialize_copy(other) = (puts "hash"; super)
end
p LoudHash[a: 1].dup, LoudHash[a: 1].clone.class
class Array
  alias old_initialize_copy initialize_copy
  def initialize_copy(other) = (puts "array"; old_initialize_copy(other))
end
p [1, 2].dup, [1].freeze.clone.frozen?

# Case mapping: letters with short rules agree with the general ones.
all = (0x80..0x52f).map { [_1].pack("U") }
p all.map(&:upcase).join.sum, all.map(&:downcase).join.sum, all.map(&:swapcase).join.sum, all.map(&:capitalize).join.sum, all.map { _1.downcase(:fold) }.join.sum
p all.join.upcase == all.map(&:upcase).join, all.join.downcase == all.map(&:downcase).join, all.join.swapcase == all.map(&:swapcase).join
puts all.map(&:upcase).join, all.map(&:downcase).join, all.map(&:swapcase).join, all.map { _1.downcase(:fold) }.join
p "éÀñ ÿ ß ς Σ Ж ж ё Ѐ".upcase, "éÀñ ÿ ß ς Σ Ж ж ё Ѐ".downcase, "éÀñ ÿ ß ς Σ Ж ж ё Ѐ".swapcase, "éÀñ ÿ".capitalize, "ÀÉ".capitalize, "ß".capitalize
p "straße".casecmp?("STRASSE"), "ÀÉЖΣ".casecmp?("àéжσ"), "ς".casecmp?("Σ"), "é".casecmp?("e")
p "iIİı".downcase(:turkic), "iIİı".upcase(:turkic), "éI".upcase(:ascii), "ÀI".downcase(:ascii)
p "a\xC3".force_encoding("UTF-8").upcase rescue p $!.message

p "abc".upcase!, "ABC".upcase!, "Abc".capitalize!, "aBC".capitalize!, "1".swapcase!, "aB1".swapcase!, "".upcase!, "".capitalize, "X".downcase!
p "abc".freeze.upcase! rescue p $!.class
p "ABC".freeze.upcase! rescue p $!.class
x = "abc".encode("UTF-16LE")
p x.upcase.encode("UTF-8"), "abc".encode("US-ASCII").upcase.encoding, "abc".b.capitalize.encoding
long = "aB" * 5000
p long.upcase == "AB" * 5000, long.swapcase == "Ab" * 5000, long.dup.capitalize![0, 4], long.size
y = "abc" * 20
z = y.dup
z.upcase!
p y[0, 3], z[0, 3]

k = "k" * 100
p (k + "a").casecmp(k + "B"), (k + "a").casecmp(k.upcase + "A"), (k + "[").casecmp(k + "a"), k.casecmp(k + "z"), (k + "z").casecmp(k), k.casecmp("K" * 99 + "l")
p "a\u00e9".casecmp("A\u00c9"), "".casecmp(""), "abc".casecmp("ABD")
