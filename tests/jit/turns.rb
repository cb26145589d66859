# A call site that meets several classes while it is watched is not made a guard of: machine code is not left for it.
class Circle
  def initialize(n) = @n = n
  def area = @n * 3
  def twice = area + area
end
class Square < Circle
  def area = @n * @n
end
class Point < Circle
  def area = 0
end
def total(shapes, rounds)
  sum = 0
  rounds.times { shapes.each { |s| sum += s.area + s.twice } }
  sum
end
shapes = [Circle.new(1), Square.new(2), Point.new(3), Circle.new(4)]
before = RubyVM::JIT.stat[:exits][:operands]
20.times { |i| total(shapes, 20_000) }
left = RubyVM::JIT.stat[:exits][:operands] - before
p total(shapes, 1000)
mode = RubyVM::JIT.stat[:mode]
puts "left #{left} times" unless left < 1000 || mode != :on
