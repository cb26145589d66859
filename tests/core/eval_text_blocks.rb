# A block in a text that instance_eval or class_eval runs keeps the text's scope for constants, whatever object it is run for.
class Loader
  INNER = :inner
  def service(&block) = Object.new.instance_exec(&block)
  def direct = yield
  def made(&block) = Class.new.class_exec(&block)
end
loader = Loader.new
loader.instance_eval(<<~RUBY, "configuration.rb")
  LEVEL = :info
  p LEVEL, direct { LEVEL }, service { LEVEL }, made { LEVEL }, service { INNER }
  service { Loader.new.service { p LEVEL } }
  Module.new { p LEVEL }
  p service { def answer = LEVEL }
  p Module.new.module_exec { Loader.new.service { [LEVEL, INNER] } }
RUBY
p loader.singleton_class.constants(false), defined?(LEVEL)

class Holder
  X = 7
end
Holder.class_eval("Y = 8; Loader.new.service { p X, Y }")
Holder.new.instance_eval("Z = 9; Loader.new.service { p X, Y, Z; W = 10 }; p W")
p Holder.constants.sort, defined?(W)
m = Module.new
m.module_eval("Q = 1; Loader.new.service { p Q }; Module.new.module_exec { p Q }")
5.instance_eval("Loader.new.service { p Comparable, MAX = 1 }") rescue p $!.class
5.instance_eval("p Loader.new.service { Float }, Loader.new.service { INNER rescue :none }")
