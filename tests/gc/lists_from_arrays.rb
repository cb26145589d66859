# Arrays that a conversion of one of their elements empties while a builtin walks them: what was not looked at yet must stay alive.
class Emptier
  def initialize(list, result) = (@list, @result = list, result)
  def convert
    @list.clear
    GC.start
    $junk = (1..20_000).map { |i| "junk#{i}" * 2 }
    @result
  end
  alias to_str convert
  alias to_s convert
  alias to_int convert
end
def list(result, *rest)
  list = []
  list << Emptier.new(list, result)
  rest.each { |r| list << r.call }
  list
end
text = ->(a, b) { -> { [a, b].join("_") } }

m = Module.new { def foo = 1; def bar_baz = 2 }
m.send(:module_function, list("foo", text["bar", "baz"]))
p m.foo, m.bar_baz

m.send(:private, list("foo", text["bar", "baz"]))
p m.private_instance_methods(false).sort

$VERBOSE = false
$stderr = Class.new { def write(*s) = print("warned: ", *s) }.new
warn list("first", text["second", "line"]), list("third", -> { list("fourth", text["fifth", "line"]) })
$stderr = STDERR

options = list(1, text["a", "b"])
p((File.foreach(__FILE__, open_args: options).first rescue $!.class))
p Fiber.new { |*a| GC.start; $junk = (1..20_000).map { |i| "junk#{i}" * 2 }; a }.resume(*[text["x", "y"].call, text["z", "w"].call])
