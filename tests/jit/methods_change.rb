# Method tables that change below a hot call: prepend, include, refinements, singleton methods, method_missing, visibility, undef.
class Animal
  def noise(n) = n + 1
  def respond_to_missing?(*) = true
end
class Dog < Animal; end
def loop_over(o, n = 3000)
  s = 0
  i = 0
  while i < n
    yield i if i == n / 2
    s += o.noise(i)
    i += 1
  end
  s
rescue NoMethodError => e
  [e.class, e.name, i, s]
end
dog = Dog.new
p loop_over(dog) {}
p loop_over(dog) { Dog.prepend(Module.new { def noise(n) = super + 10 }) }
p loop_over(dog) { Animal.include(Module.new { def noise(n) = 0 }) }
p loop_over(dog) { Dog.class_eval { def noise(n) = super * 2 } }
p loop_over(dog) { def dog.noise(n) = 5 }
p loop_over(Dog.new) {}
p loop_over(dog) { dog.singleton_class.send(:remove_method, :noise) }
p loop_over(dog) { Animal.send(:private, :noise) }
p loop_over(dog) { Dog.send(:undef_method, :noise) }
class Dog; def method_missing(name, n) = n & 1; end
p loop_over(Dog.new) {}
p loop_over(Dog.new) { Dog.class_eval { def noise(n) = 7 } }

module Louder
  refine Animal do
    def noise(n) = 100
  end
  refine Integer do
    def +(o) = 42
  end
end
class Cat < Animal
  def noise(n) = n
end
module Refined
  using Louder
  def self.run(o, n)
    s = 0
    n.times { |i| s = s.+(i) - 1; s += o.noise(i) }
    s
  end
end
p Refined.run(Cat.new, 2000), Refined.run(Animal.allocate, 2000)
p loop_over(Cat.new) {}

# One site, many classes.
shapes = 12.times.map { |k| Class.new { define_method(:noise) { |n| n & k } } }.map(&:new)
sum = 0
5000.times { |i| sum += shapes[i % shapes.size].noise(i) }
p sum
# extend of one object in the loop that calls it
cat = Cat.new
p loop_over(cat) { cat.extend(Module.new { def noise(n) = 3 }) }
# instance variables that appear while methods run which know the shape
class Grows
  def initialize = @a = 1
  def bump = @a += 1
  def late(k) = instance_variable_set(:"@v#{k}", k)
  def all = instance_variables.size
  def read = @b
  def write = @b = (@b || 0) + 1
end
g = Grows.new
2000.times { |i| g.bump; g.late(i / 100) if i % 100 == 0; g.write if i > 1000; g.read }
p g.bump, g.all, g.read
g.freeze
p((g.bump rescue $!.class), (g.write rescue $!.class))
