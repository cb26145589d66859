# Array#clear and String#clear give large buffers back; what others share stays theirs.
require "objspace"
a = Array.new(100_000) { it }
half = a[0, 50_000]
b = a.dup
a.clear
p a, a.size, ObjectSpace.memsize_of(a) < 1000, half.size, half.last, b.size, b.sum
a.push(1, 2)
p a
s = "x" * 500_000
t = s.dup
part = s[1000, 300_000]
s.clear
p s, s.encoding, ObjectSpace.memsize_of(s) < 1000, t.size, part.size, part.count("x")
s << "é"
p s, s.valid_encoding?, s.size
u = ("é".encode("UTF-16LE") * 1000)
u.clear
p u.encoding, u.empty?
begin
  ("y" * 10_000).freeze.clear
rescue FrozenError => e
  p e.message[0, 30]
end
begin
  Array.new(1000).freeze.clear
rescue FrozenError => e
  p e.class
end
each = Array.new(200) { it }
seen = 0
each.each { |x| seen += 1; each.clear if x == 10 }
p seen, each
