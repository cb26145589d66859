class Jumps
  def keep(&block) = block
  def captured_break
    b = keep { break :broken }
    b.call
  rescue LocalJumpError => e
    [:rescued, e.reason, e.exit_value]
  end
  def saved_inner
    outer { |save| save.call { return :from_start } }
    run_saved
    :not_reached
  end
  def outer = yield(proc { |&inner| @inner = inner })
  def run_saved = @inner.call
  def normal = [1, 2, 3].each { |x| break x * 10 if x == 2 }
  def nested = [1, 2].each { |x| [3].each { |y| return [x, y] } }
end
j = Jumps.new
p j.captured_break, j.saved_inner, j.normal, j.nested

3.times { END { puts "once" } }
parent = Class.new
child = Class.new(parent)
child.class_variable_set(:@@v, 1)
parent.class_variable_set(:@@v, 2)
begin
  child.class_variable_get(:@@v)
rescue RuntimeError => e
  puts e.message.gsub(/#<Class:0x\h+>/, "C")
end
p defined?(nil), defined?(true), defined?(@@nothing)
x = []
p defined?(x[0] = 1)
p Class.new.singleton_class.singleton_class.superclass == Object.singleton_class.singleton_class
o = Object.new
class << o
  CONST = 7
end
class << o.clone
  p CONST
end
o = Object.new
def o.respond_to?(name, all = false) = (p [name, all]; false)
def o.to_ary = [1, 2]
a, b = o
p a.equal?(o), b
p (case o; in [_, _] then :list; else :other; end)
