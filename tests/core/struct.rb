P = Struct.new(:x, :y) do
  include Comparable
  def dist = Math.sqrt(x * x + y * y)
  def <=>(o) = dist <=> o.dist
  def to_s = "(#{x}, #{y})"
end
a = P.new(3, 4)
p a
p a.x
p a[:y]
p a["x"]
p a[0]
p a[-1]
p a.to_a
p a.dist
p a == P.new(3, 4)
p a.eql?(P.new(3.0, 4))
p a.hash == P.new(3, 4).hash
p a > P.new(1, 1)
p a.members
p P.members
p a.each.to_a
p a.size
p a.values
p a.to_h.to_a
p a.dig(:x)
p a.values_at(0, 1)
p a.select(&:odd?)
p P.new(1)
p P.new(1).y
p "#{a}"
p a.each_pair.to_a
p a.inspect
a.x = 10; a[:y] = 20; a[0] += 1
p a
p a.dup.tap { |d| d.x = 0 }
p a
p a.sum
p a.max
p a.to_a.reverse
x, y = *a
p x, y
case a
in [x, y] then p [x, y]
end
case a
in { x:, y: } then p x + y
end
begin; P.new(1, 2, 3); rescue ArgumentError => e; p e.message; end
begin; a[:zz]; rescue NameError => e; p e.message; end
begin; a[5]; rescue IndexError => e; p e.message; end
begin; a[-5]; rescue IndexError => e; p e.message; end
begin; a.freeze.x = 1; rescue FrozenError => e; p e.class; end
K = Struct.new(:a, :b, keyword_init: true)
k = K.new(a: 1, b: 2)
p k
p k.to_h.to_a
p K.new(a: 5).b
p K.inspect
p((K.new(1) rescue $!.class))
p((K.new(c: 1) rescue $!.message))
class Pt < Struct.new(:lat, :lng)
  def initialize(lat, lng = 0) = super
  def +(o) = Pt.new(lat + o.lat, lng + o.lng)
end
p Pt.new(1)
p Pt.new(1, 2) + Pt.new(3, 4)
p Pt.ancestors.include?(Struct)
p Pt.superclass.superclass
p Struct.new("Named", :q).new(1).class.name
p Struct.new(:a).new([1, [2]]).to_a.flatten
p P.new(1, P.new(2, nil))
p P.instance_methods(false).sort.first(3)
p a.respond_to?(:x=)
p P.new(1, 2).then { |s| s.zip([3, 4]) }
p P.new(5, 1).sort
p P.new(1, 2).filter_map { |v| v * 2 if v > 1 }
p P.new(nil, false).to_a
p P.new(1, 2).each_with_index.to_a
p P.new(1, 2).deconstruct
p P.new(1, 2).deconstruct_keys([:x]).to_a
