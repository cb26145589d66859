Point = Data.define(:x, :y) do
  def +(o) = with(x: x + o.x, y: y + o.y)
  def self.origin = new(0, 0)
end
a = Point.new(1, 2)
b = Point.new(x: 3, y: 4)
p a, b, a + b, Point.origin, a == Point.new(1, 2), a.eql?(Point.new(1.0, 2)), a.hash == Point.new(1, 2).hash
p a.to_h, a.with(y: 9), a.frozen?, Point.members, a.inspect, a.to_s
begin; a.instance_variable_set(:@x, 3); rescue => e; p e.class; end
begin; Point.new(1); rescue ArgumentError => e; p e.message; end
begin; Point.new(1, 2, 3); rescue ArgumentError => e; p e.message; end
begin; Point.new(x: 1, y: 2, z: 3); rescue ArgumentError => e; p e.message; end
p a.respond_to?(:x=)
case a
in { x:, y: } then p [x, y]
end
case b
in Point[x, y] then p x * y
end
Empty = Data.define
p Empty.new, Empty.members
