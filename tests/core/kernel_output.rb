puts 1, [2, [3, nil]], nil, [], "x\n", :sym, 1.5, true
puts
puts [[], [[]]]
print "a", "b", 1, nil, "\n"
p
p 1, 2
p [1, nil]
x = p("ret")
p x, p(1, 2), p()
$stdout.puts "stdout"
$stdout.print "x", "y\n"
$stdout << "chain" << 1 << "\n"
$stdout.write("w", 1, "\n")
STDOUT.printf("%d %s\n", 1, "a")
printf("%05.1f\n", 3.14159)
putc "A"; putc 66; putc "\n"
$stdout.sync = true
p $stdout.sync, $stdout.fileno, $stdout.tty?
class NoS; def to_s = nil; end
puts "#{NoS.new}".start_with?("#<NoS")
class Ary; def to_ary = ["from", "to_ary"]; end
puts Ary.new
display_r = 5.display
puts
p display_r
old = $,
puts [1, 2].join, "a" "b"
pp({ a: 1 }.to_a, [1, 2])
puts "é", "日本", "\x00".inspect
$stdout.flush
