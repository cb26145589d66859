module Loud
  def speak = super.upcase + "!"
end
class Dog
  prepend Loud
  def speak = "woof"
end
p Dog.new.speak, Dog.ancestors.first(2)
module Trace
  def self.prepended(b) = puts("prepended to #{b}")
  def run(*a) = ["before", *super, "after"]
end
class Job
  def run(*a) = a
end
j = Job.new
Job.prepend(Trace)
p j.run(1, 2)
class Sub < Dog
  def speak = "sub " + super
end
p Sub.new.speak, Dog.instance_method(:speak).owner
module Counted
  def initialize(*)
    super
    @count = 1
  end
  attr_reader :count
end
class Thing
  prepend Counted
  def initialize(n) = @n = n
  attr_reader :n
end
t = Thing.new(5)
p t.n, t.count
class Integer
  prepend(Module.new { def double = self * 2 })
end
p 4.double
module X; def v = [:x] + super; end
module Y; def v = [:y] + super; end
class Z
  prepend X, Y
  def v = [:z]
end
p Z.new.v, Z.method_defined?(:v), Z.prepend(X).equal?(Z)
