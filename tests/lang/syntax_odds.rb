p [1, 2, 3]
  .map { |x| x * 2 }
  # a comment in a chain
  .select { |x| x > 2 }
p(if true
  1
else
  2
end)
def a() 1 end
p a
x = begin
  5
end
p x, (->x,y{x+y}).(1,2)
puts [1,
      2].sum
v = true &&
    false
p v
puts "a"; puts "b"
p((1; 2))
z = if false then 1 end
p z
p %w(
  a
  b
)
def q? = true
p q? ? 1 : 2
p [*1..3, 4].sum { |i| i }, 1.+(2)
p 5.fdiv 2
=begin
block comment
=end
p -1.abs, - 1.abs, +1
puts((1..3).reduce do |s, i| s * i end)
p [[1, [2]], 3].then { |(a, (b)), c| [a, b, c] }
i = 10
i -= 1 while i > 5
p i
lambda do |a, b = (a + 1)| p [a, b] end.call(1)
puts <<A.upcase + <<B
a
A
b
B
p((a, b = 1, 2), b)
return
puts "not reached"
