# Structures nested as deep as CRuby's natives go: written, read, compared, shown; keys of `dig` without end.
require "json"
Pair = Struct.new(:first, :second)
Point = Data.define(:x)
class Node
  attr_reader :inner
  def initialize(inner) = @inner = inner
end
nest = ->(depth, &wrap) { depth.times.inject(nil) { |inner, _| wrap[inner] } }
{
  array: ->(x) { [x] }, hash: ->(x) { { a: x } }, struct: ->(x) { Pair.new(x, 1) }, data: ->(x) { Point.new(x: x) }, object: ->(x) { Node.new(x) },
  text: ->(x) { s = +"abc"; s.instance_variable_set(:@x, x); s }
}.each do |name, wrap|
  text = Marshal.dump(nest[5_000, &wrap])
  again = Marshal.load(text)
  p [name, Marshal.dump(nest[10_000, &wrap]).size, again.class, Marshal.dump(again) == text]
end
p JSON.generate(nest[10_000] { |x| [x] }, max_nesting: 0).size, JSON.parse("[" * 15_000 + "]" * 15_000, max_nesting: false).size, JSON.parse('{"a":' * 15_000 + "1" + "}" * 15_000, max_nesting: false).size
a, b = Array.new(2) { nest[5_000] { |x| [x] } }
p a == b, a.hash == b.hash, a.eql?(b), a <=> b, a.inspect.size, a.flatten.size
p nest[100_000] { |x| [x] }.dig(*[0] * 100_000), nest[50_000] { |x| { a: Pair.new(x, 1) } }.dig(*[:a, :first] * 50_000)
class Dug
  def dig(*keys) = [:dug, keys.size]
  private def secret = 1
end
class Hidden
  private def dig(*keys) = [:hidden, keys]
end
p [Dug.new].dig(0, 1, 2), { a: [Hidden.new] }.dig(:a, 0, :b), ([1].dig(0, 1) rescue $!.message), Pair.new([nil]).dig(:first, 0, :x)
class Other < Hash
  def [](key) = "own #{key}"
end
p [Other.new].dig(0, :x), ([[1]].dig(0, "x") rescue $!.message)
Thread.new { p Marshal.dump(nest[1_200] { |x| { a: x } }).size }.join
Fiber.new { p Marshal.dump(nest[350] { |x| { a: x } }).size }.resume
