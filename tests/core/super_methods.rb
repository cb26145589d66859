# The method that `super` calls, of aliases; and backtraces of fibers before, within and behind.
class A
  def a = 1
  alias b a
end
class B < A
  def a = super
  alias c a
end
class C < B
  def b = 2
  alias d b
end
p B.new.method(:c).super_method.then { [_1.name, _1.original_name, _1.owner, _1.call] }
p C.new.method(:d).super_method.then { [_1.name, _1.original_name, _1.owner, _1.call] }
p C.instance_method(:d).super_method.then { [_1.name, _1.owner] }
p C.new.method(:b).super_method.super_method

module M
  def a = super + 10
  alias m a
end
class D < B
  include M
  def a = super + 100
  alias again a
end
m = D.new.method(:again)
until m.nil?
  p [m.name, m.original_name, m.owner]
  m = m.super_method
end
p D.new.again

fiber = Fiber.new { Fiber.yield }
p fiber.backtrace, fiber.backtrace_locations
fiber.resume
p fiber.backtrace.size > 0, fiber.backtrace_locations.first.lineno
fiber.resume
p fiber.alive?, fiber.backtrace, fiber.backtrace_locations, fiber.backtrace(0), fiber.backtrace(5)
