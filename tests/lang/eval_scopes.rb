# super, variables and memory of evaluated code.
class A
  def f(a = 1, *r, k: 0, **o, &b) = [a, r, k, o[:z], b&.call]
  def g(a, b) = [a, b]
end
class B < A
  def f(a = 2, *r, k: 1, **o, &b) = eval("a = 7; super")
  def g(a, b) = [eval("super(b, a)"), instance_eval("super(1, 2)"), eval("[1].map { super }")]
end
p B.new.f(5, 6, k: 3, z: 4) { :blk }
p B.new.g(1, 2)
# Many new variables in one Binding, seen by earlier blocks.
b = binding
first = b.eval("v0 = 0; -> { v0 }")
1.upto(400) { |i| b.eval("v#{i} = v#{i - 1} + 1") }
b.eval("v0 = :changed")
p b.eval("[v399, v400]"), first.call, b.local_variables.size > 400
1.upto(300) { |i| b.local_variable_set(:"w#{i}", i) }
p b.local_variable_get(:w300), b.local_variable_defined?(:w301)
# What evals leave behind lives on: procs, methods, classes, bindings, nested evals.
keep = []
o = Object.new
3000.times do |i|
  x = eval("i + #{i}")
  if i % 500 == 0
    keep << eval("k = #{i}; proc { |n| eval('k + n') + #{i} }")
    o.instance_eval("def m#{i}(n) = [n, #{i}].map { |q| q + 1 }; singleton_class.alias_method :am#{i}, :m#{i}")
    keep << eval("c#{i} = #{i}; binding")
  end
  GC.start if i % 1000 == 0
end
GC.start
p keep.grep(Proc).map { |k| k.call(1) }
p [0, 500, 2500].map { |i| [o.send(:"m#{i}", 1), o.send(:"am#{i}", 2)] }
p keep.grep(Binding).each_with_index.map { |k, i| k.local_variable_get(:"c#{i * 500}") }
trace_var(:$watched) { |v| puts "watched: #{v}" }
$watched = 1
alias $watching $watched
$watching = 2
untrace_var(:$watched)
$watched = 3
p eval("[__FILE__, __LINE__, __method__]", nil, "x.rb", 7), eval("__FILE__") == __FILE__
p TOPLEVEL_BINDING.local_variable_get(:keep).equal?(keep), TOPLEVEL_BINDING.receiver
