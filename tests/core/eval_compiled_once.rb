# An eval's text is compiled once per text and place, in fresh Bindings, too, and when it defines variables.

compiled = 0
trace = TracePoint.new(:script_compiled) { compiled += 1 }
count = lambda do |&work|
  compiled = 0
  trace.enable { work.call }
  compiled
end

def fresh = binding

puts "here: #{count.call { 3.times { eval("1 + 1") } }}"
puts "given: #{count.call { eval("2", binding, "given.rb") }}"
puts "fresh: #{count.call { 5.times { eval("self.class", fresh) } }}"

# Texts with variables: once to see which they are, once with their places.
results = []
puts "defines: #{count.call { 5.times { |i| b = fresh; b.local_variable_set(:i, i); results << eval("a = i * 2; c = a + 1; [a, c]", b) } }}"
p results

# What a Binding got stays its own.
x, y = fresh, fresh
eval("n = 1", x)
eval("n = 2; m = 3", y)
p x.local_variables, y.local_variables, eval("n", x), eval("n", y)
p (eval("m", x) rescue $!.class)

# Closures of both know their own variables, though they share their code.
adders = [1, 10].map { |by| b = fresh; b.local_variable_set(:by, by); eval("step = by; total = 0; ->(n) { total += n * step }", b) }
p adders.map { |f| f.call(1); f.call(2) }
p adders.map { |f| f.binding.local_variables.sort }
p adders.map { |f| f.binding.eval("total") }

# More variables than one environment takes, at once and one by one.
many = (0...150).map { |i| "v#{i} = #{i}" }.join("; ")
2.times do
  b = fresh
  eval(many, b)
  150.times { |i| b.local_variable_set(:"w#{i}", -i) }
  p eval("v0 + v63 + v64 + v149", b), eval("[w0, w75, w149]", b), b.local_variables.size
end

# They go on after a collection has dropped the code.
GC.start
3.times { p eval("k = 4; l = k; l", fresh) }
GC.start
b = fresh
eval("late = 5", b)
GC.start
p b.local_variables, b.local_variable_get(:late)
