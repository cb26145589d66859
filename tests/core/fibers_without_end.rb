# Without --gc=stress.
# Fibers that each make and resume another, and Enumerators that ask another, end with a FiberError, as a method that calls itself ends with a SystemStackError.
def fibers(made) = Fiber.new { fibers(made + 1) }.resume
def enumerators(made) = Enumerator.new { |y| y << enumerators(made + 1).next }

2.times do
  begin
    fibers(0)
  rescue FiberError => e
    p e.class
  end
end
begin
  enumerators(0).next
rescue FiberError => e
  p e.class
end
# So many that wait beside each other are another matter.
waiting = Array.new(2_000) { Fiber.new { Fiber.yield(1); 2 }.tap(&:resume) }
p waiting.sum(&:resume)
