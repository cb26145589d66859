# Short ways of calls with lists and keywords, of texts and numbers: what they may not change.

puts "== Arguments where they stand"
def told(&) = begin yield; rescue ArgumentError => e; e.message; end
def opt(a, b = a + 1, *c) = [a, b, c]
def opt_kw(a, b = [a], c = b + [2], *d, k: d.size, **rest, &blk) = [a, b, c, d, k, rest, blk&.call]
def only_kw(k:, l: k * 2) = [k, l]
def no_rest(a, b = 2, c = 3) = [a, b, c]
def nameless(a, *, k: 1, **) = opt_kw(a, *, k:, **)
def post(a, b = 5, *c, d) = [a, b, c, d]
def refuses(a, b = 1, **nil) = [a, b]
def pair((a, b), c = a, *d, k: c) = [a, b, c, d, k]
ten = (1..10).to_a
p opt(*ten), opt(1), opt(1, 2), opt(*[1]), opt(*ten, 11), opt(0, *ten), ten.size
p told { opt }, told { opt(*[]) }, told { no_rest(*ten) }, told { no_rest(1, 2, 3, 4) }, no_rest(1), no_rest(1, 5), no_rest(*ten.first(3))
p opt_kw(1), opt_kw(1, 2, [3]), opt_kw(*ten[0, 1], [0], [0], *ten, k: 5, z: 6) { :block }, opt_kw(1, k: nil), opt_kw(1, x: 1, "y" => 2)
p only_kw(k: 1), only_kw(k: 1, l: 3), told { only_kw }, told { only_kw(l: 1) }, told { only_kw(k: 1, m: 2, n: 3) }, told { only_kw(1, k: 2) }, told { only_kw({ k: 2 }) }
p nameless(1), nameless(1, [2], [3], 4, k: 7, q: 8), nameless(*[1, [2], [3]], **{})
p post(1, 2), post(1, 2, 3), post(*ten), told { post(1) }
p refuses(1), told { refuses(1, k: 2) }, refuses(1, **{}), told { refuses(1, 2, 3) }
p pair([1, 2]), pair([1], 3, 4, k: 5), pair(9)
list = [1, 2, 3]
h = { k: 4, z: 5 }
got = opt_kw(*list, [6], **h)
got[3] << :changed
got[5][:more] = 1
p list, h, got[3], got[5]
kept = []
keep = ->(a, b = 2, *c, k: 3, **o) { kept << c << o; [a, b, c, k, o] }
p keep.call(*list, 4), keep.(1), keep[1, k: 2, y: 1], told { keep.call }, kept
class Key
  def hash = (GC.start; 7)
  def eql?(o) = true
end
p opt_kw(1, **{ Key.new => 1, k: 2 }).values_at(4, 5).then { |k, o| [k, o.size] }
def forward(...) = opt_kw(...)
p forward(1), forward(1, 2, [3], 4, k: 5, w: 6) { 7 }, told { forward }
define_method(:defined) { |a, b = 2, *c, k: 1| [a, b, c, k] } rescue self.class.define_method(:defined) { |a, b = 2, *c, k: 1| [a, b, c, k] }
p defined(*ten), defined(1, k: 3), told { defined }
def deep(n, m = n, *r, k: n) = n == 0 ? [m, r, k] : deep(n - 1, *r, n, k:)
p deep(12)

puts "== Range of Floats"
r = (1.0..2.0)
p r === 1.0, r === 2.0, (1.0...2.0) === 2.0, (1.0..) === 5.5, (..1.0) === 0.5, r.cover?(1), r === 1.5r, (1..2) === 1.5, (-0.0..0.0) === 0.0, r === nil
p (1.0..Float::INFINITY) === 1e308, r.include?(1.25), r.cover?(1.1..1.2), (1.0...2.0).cover?(1.0..2.0)
class Float
  alias plain_cmp <=>
  def <=>(other) = other == 1.5 || self == 1.5 ? 1 : plain_cmp(other)
end
p r === 1.5, r === 1.25
class Float
  alias <=> plain_cmp
end
p r === 1.5
p (1..10).sum, (1...10).sum, (5..1).sum, (1..10).sum(5), (1..10).sum(0.5), (1..10).sum(2**70), (-4611686018427387904..4611686018427387903).sum, (0..4611686018427387903).sum
p (0..2**64).sum, (1...1).sum, (1..4.5).sum, (1..3).sum { it * 2 }, (-3..-1).sum(-1)

puts "== Symbol order"
p :a <=> :b, :b <=> :a, :a <=> :a, :a <=> :ab, :"" <=> :a, :a <=> "a", :é <=> :z, %i[c a b é aa].sort, "é".b.to_sym <=> :é, :é <=> "é".b.to_sym, :a <=> nil

puts "== Base 64"
p ["", "a", "ab", "abc", "abcd", "\xff\xfe\xfd".b].map { |s| [s].pack("m0").unpack1("m0") == s }
%w[YQ== YWI= YWJj YWJjZA== YR== YWJ= YW=j Y=== ==== YWJjYQ= YWJj*WJj YWJjYW== A=BCYWJj =AAAAAAA].each do |s|
  p [s, begin s.unpack1("m0") rescue "#{$!.class}: #{$!.message}" end, s.unpack1("m")]
end
p "YWJj\xffWJj".b.unpack1("m"), "YW Jj\nYWJj".unpack1("m"), (begin "YWJj\n".unpack1("m0") rescue $!.message end)

puts "== Floats in texts"
fs = [0.0, -0.0, 0.5, 1.5, 2.5, 0.125, 0.375, 2.345, 1.005, 1.015, 0.0005, 0.00049999, 9.9995, 99.995, 999.9949999, 0.1 + 0.2, 1e-7, 5e-324, 1e11 + 0.5, 1099511627775.75, 1099511627776.25, 1e15 + 0.5,
      1e22, 123456.789, -3.14159, 1.0e-3, 4.35, 4.345, 0.285, 1.255]
(0..14).each { |n| puts fs.map { format("%.#{n}f", it) }.join(" ") }
p format("%f", 3.14159), format("%+08.2f|%-9.3f|% .1f|%#.0f|%.0f", 3.14159, 2.5, 9.95, 3.2, 0.5), format("%.2f", 1r / 3), format("%.3f", 10**20), format("%.13f", 0.1)
seed = 12345
sum = 0
2000.times do |i|
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  text = format("%.#{i % 8}f", seed / 2.0**(i % 23))
  sum = (sum * 31 + text.sum) % 1_000_000_007
end
p sum
p fs.first(12).map { it.round(2) }, 2.5.round(0, half: :even), 1e15.round(1), 0.285.round(2), 1.23456789012345.round(14), 12345.678.round(-2), 5.015.round(2), 1.15.ceil(1), 1.15.floor(1), 1e-10.round(12)

puts "== Variables of a Binding"
a = 1
b1 = binding
2.times do |i|
  c = i
  b2 = binding
  p [b2.local_variable_get(:a), b2.local_variable_get(:c), b2.local_variable_defined?(:zz), b1.local_variable_defined?(:c)]
  b2.local_variable_set(:a, a + 1)
  b2.local_variable_set(:fresh, c)
  p b2.local_variable_get(:fresh), b2.local_variables.first(4).include?(:fresh)
end
p a, b1.local_variable_get(:a), begin b1.local_variable_get(:nowhere) rescue $!.class end, begin b1.local_variable_get("1x") rescue $!.class end
def own = (inner = 5; binding)
p own.local_variables, own.local_variable_get(:inner), begin own.local_variable_get(:a) rescue $!.class end

puts "== IO::Buffer#set_value"
Warning[:experimental] = false
buffer = IO::Buffer.new(16)
p buffer.set_value(:U32, 4, 77), buffer.get_value(:U32, 4), buffer.set_value(:u16, 14, 513), buffer.get_values([:U8, :U8], 14)
p buffer.set_value(:F64, 8, 1.5), buffer.get_value(:F64, 8), buffer.set_value(:s8, 0, -1) rescue p $!.class, $!.message
[[:U32, 13, 1], [:U32, 2**40, 1], [:U8, 16, 1], [:U8, -1, 1], [:U8, 0, nil], [:U8, 0, 2**40]].each do |args|
  p begin buffer.set_value(*args) rescue "#{$!.class}: #{$!.message}" end
end
slice = buffer.slice(4, 4)
p slice.set_value(:U8, 3, 9), buffer.get_value(:U8, 7), begin slice.set_value(:U32, 1, 1) rescue $!.class end
fixed = IO::Buffer.for("constant".freeze)
p begin fixed.set_value(:U8, 0, 65) rescue $!.class end
text = +"abcdef"
IO::Buffer.for(text) { |view| p view.set_value(:U8, 1, 66), view.set_values([:U8, :U8], 3, [67, 68]) }
p text

puts "== Modules of single objects"
module Louder
  def ==(other) = :louder
  def +(other) = :plus
  def ! = :not
  def nil? = :perhaps
end
o = Object.new.extend(Louder)
s = (+"text").extend(Louder)
p o == 1, !o, o.nil?, o + 1, s == "text", !s, s + "x", s.nil?, +"text" == "text", "a" + "b", !Object.new, nil.nil?
k = Class.new.extend(Louder)
p k == 1, !k, k.nil?, Class.new == 1, !Class.new
class String
  include Louder
end
p "a" + "b", "a".nil?, !"a"
class Symbol
  prepend Louder
end
p :a == :a, !:a, :a.nil?, 1 == 1

puts "== Names of instance variables"
class Holder
  def initialize = (@a, @b, @c = 1, nil, 3)
end
holder = Holder.new
p holder.instance_variables, (holder.remove_instance_variable(:@b); holder.instance_variables), (holder.instance_variable_set(:@b, 2); holder.instance_variables)
p Object.new.instance_variables, (Holder.instance_variable_set(:@of_class, 1); Holder.instance_variables), (+"text").tap { it.instance_variable_set(:@of_text, 1) }.instance_variables
p RuntimeError.new("x").tap { it.instance_variable_set(:@more, 1) }.instance_variables, 1.instance_variables, Comparable.instance_variables
