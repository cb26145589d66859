p eval("1 + 2"), eval("x = 5; x * 2")
a = 10
eval("a += 1; b_new = 2")
p a, defined?(b_new)
b = binding
b.eval("q = 3")
p b.local_variable_get(:q), b.eval("q + a"), b.local_variable_defined?(:zz)
p eval("__FILE__", nil, "named.rb", 77), eval("__LINE__", nil, "named.rb", 77)
begin
  eval("1 +", nil, "bad.rb", 5)
rescue SyntaxError => e
  p e.class
end
begin
  eval("\n\nraise 'at three'", nil, "where.rb", 1)
rescue => e
  p e.backtrace.first[/\Awhere\.rb:\d+/]
end
class K
  def get_b = (v = 1; binding)
end
p K.new.get_b.eval("v"), K.new.get_b.receiver.class, Object.new.instance_eval { self.class }
def with_block = eval("yield 4")
p with_block { |x| x * 2 }
eval("def from_eval = :fe")
p from_eval
p K.class_eval("self").name
p binding.local_variables.include?(:a)
p eval("->(x) { x + a }").call(1)
