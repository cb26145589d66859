# Sets and Hashes that are built from many keys at once keep what one key at a time gives: order, first key, own `hash` and `eql?`, errors.
require "set"

class Odd
  attr_reader :n
  def initialize(n) = @n = n
  def hash = (@n % 3).hash
  def eql?(other) = other.is_a?(Odd) && other.n == @n
  def inspect = "o#{@n}"
end

list = [1, 2.0, :a, "s", nil, Odd.new(1), 1, 2, "s".dup, Odd.new(1), Odd.new(4), 2**70, 2**70, -0.0, 0.0, Float::NAN, [1], [1], true, String]
s = Set.new(list)
p s.size, s.to_a
p Set[*list].to_a == s.to_a, Set[*list].size
p s.to_a.map(&:frozen?)

str = +"key"
s = Set[str]
str << "!"
p s, s.include?("key"), s.include?("key!")

a = Set.new(1..40)
p (a & (30..50).to_a), (a & Set.new(30..60)), (Set.new(30..60) & a).to_a
p (a - (3..38).to_a), (a - Set.new(2..39)), a.size
b = a.dup
b.subtract(b)
p b, b.add(1)
b = a.dup.subtract(Set.new(5..100))
p b, b.include?(5), b.include?(4)
p b.merge([9, 8, 9], Set[7, 1]).to_a
p Set[1, 2].merge(Set[Odd.new(1), Odd.new(1), Odd.new(7)]).to_a

# By identity.
x, y = "x".dup, "x".dup
i = Set.new.compare_by_identity.merge([x, y, x])
p i.size, i.include?(x), i.include?("x".dup)
p (i & [x]).size, (Set[x] & i).size, (i - [y]).size
i2 = Set.new([x, y, :a, 1]).compare_by_identity
p i2.size, i2.compare_by_identity?, i2.include?(:a), i2.include?(1), i2.include?(y)
p Set.new.compare_by_identity.compare_by_identity?, Set.new.reset

# Codes that change.
k = [1]
s = Set[k, [2], 3, Odd.new(5)]
k << 2
p s.include?([1, 2]), s.reset.include?([1, 2]), s
k2 = [2]
s = Set[[1], k2]
k2[0] = 1
p s.reset

h = {[1] => :a, k => :b, "s" => :c, 1 => :d}
k << 3
p h[k], h.rehash[k], h
m = [9]
h = {[1] => :first, m => :second, 7 => 8}
m[0] = 1
p h.rehash, h.size
p({}.rehash, {a: 1}.compare_by_identity.rehash.compare_by_identity?)
h = {"a" => 1, :b => 2, 3 => 4, 5.5 => 6}.compare_by_identity
p h, h["a".dup], h[:b], h[3], h[5.5]

# While one is walked.
s = Set[1, 2, 3]
begin
  s.each { s.merge([1, 2]); s.merge([4]) }
rescue => e
  p e.class
end
begin
  s.each { s.reset }
rescue => e
  p e.class
end
s.each { |e| s.subtract([2]) if e == 1 }
p s
h = {1 => 2}
begin
  h.each { h.rehash }
rescue => e
  p e.class
end

# Code of a key that changes the Set that it is put into, or the one it comes from.
class Meddler
  def initialize(&b) = @b = b
  def hash = (@b&.call; 1)
end
target = Set[1]
target.merge([5, Meddler.new { target << 99 }, 6])
p target.size, target.include?(99), target.include?(6)
from = Set[1, 2, 3]
m = nil
from << (m = Meddler.new)
m.instance_variable_set(:@b, -> { from << 100 })
begin
  Set.new(from)
rescue => e
  p e.class
end
p Set.new([Meddler.new { raise "no" }]) rescue p $!.message

# Copies.
t = Set.new(1..30)
t.replace(Set[1, 2])
p t, t.size
t.replace(1..20)
p t.size
u = Set[5].replace(Set.new(1..50))
u.delete(7)
p u.size, u.include?(50), u.first(3)
big = Set.new(1..1000)
p big.to_a.sum, Set.new(big).delete(1).size, big.size, (big & big).size, (big - big).size
p Set[3, 1].to_a, Set[].to_a
(1..20).each { |n| h = (1..n).to_h { [_1, _1] }; g = h.dup; g.delete(1); g[n + 1] = 0; p n unless h.size == n && g.size == n && h[n] == n && g[n + 1] == 0 && !g.key?(1) }

puts "-- a walk that begins while codes are asked for goes on after that"
class WalkingKey
  def hash = ($walk&.next; 1)
  def eql?(o) = true
end
h = {WalkingKey.new => 1, a: 2, b: 3}
$walk = h.each_key
h.rehash
walk, $walk = $walk, nil
p h.size, (begin; h[:new] = 1; rescue => e; e.class; end)
p Array.new(3) { begin; walk.next; rescue => e; e.class; end }
h[:new] = 1
p h.size
