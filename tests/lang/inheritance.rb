class Shape
  attr_reader :name
  def initialize(name) = @name = name
  def area = raise(NotImplementedError, "#{self.class} must implement area")
  def to_s = "#{name}: #{'%.2f' % area}"
  def <=>(o) = area <=> o.area
  include Comparable
end
class Circle < Shape
  def initialize(r)
    super("circle")
    @r = r
  end
  def area = 3.14159 * @r**2
end
class Square < Shape
  def initialize(s)
    super("square")
    @s = s
  end
  def area = @s * @s
end
puts [Circle.new(2), Square.new(3), Square.new(1)].sort.map(&:to_s)
begin
  Shape.new("x").area
rescue NotImplementedError => e
  p e.message, e.class.superclass
end
p Circle.superclass
p Circle.instance_methods(false)
p Square.new(1).is_a?(Shape)
p Shape > Circle
p Circle < Shape
p Circle <= Circle
p Circle <=> Square
p Shape <=> Circle
begin
  class Circle < String; end
rescue TypeError => e
  p e.message
end
begin
  Class.new(Class)
rescue TypeError => e
  p e.message
end
class MyArr < Array
  def second = self[1]
end
m = MyArr.new([1, 2, 3])
p m.second
p m.class
p m.map { |x| x }.class
p m.dup.class
p MyArr[4, 5].second
class MyStr < String; end
p MyStr.new("x").class, (MyStr.new("x") + "y").class, MyStr.new("x").upcase.class
class MyErr < StandardError
  def message = "overridden"
end
begin; raise MyErr; rescue => e; p e.message; end
class MyHash < Hash
  def [](k) = super(k.to_s)
end
h = MyHash.new
h["a"] = 1
p h[:a], Class.new(Shape) { def area = 2 }.new("anon").to_s, Shape.subclasses.map(&:name).compact.sort
class Redefine; def a = 1; end
r = Redefine.new
class Redefine; def a = 2; end
p r.a, Redefine.instance_method(:a).name
