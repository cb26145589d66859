# Collections look for the same object first, then for an equal one: NaN, and objects that deny being equal to themselves.
n = Float::NAN
odd = Object.new
def odd.==(_) = false

[n, odd].each do |v|
  a = [1, v]
  p a.include?(v), a.index(v), a.rindex(v), a.count(v), a == [1, v], a != [1, v]
  p [[v, 2]].assoc(v)&.last, [[2, v]].rassoc(v)&.first, a.each.include?(v), a.find_index(v), a.each_entry.count(v)
  h = { 1 => v }
  p h.key(v), h.value?(v), h == { 1 => v }, h.rassoc(v)&.first
  p Struct.new(:x).new(v).then { |s| s == s.dup }
  p a.delete(v).equal?(v), a
end

p n == n, [n].include?(0.0 / 0.0 + 1), Complex(n, 0) == Complex(n, 0), (odd == odd), odd != odd

puts "-- super without a method"
begin
  -> { super() }.call
rescue NoMethodError => e
  puts e.message
end

puts "-- a refined to_proc"
module Appends
  refine(String) { def to_proc = ->(x) { "#{x}#{self}" } }
end
using Appends
p [1, 2].map(&"x")
def block_of(&b) = b
p block_of(&"y").call(3)
