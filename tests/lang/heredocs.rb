name = "World"
puts <<EOS
Hello #{name}
  kept
EOS
puts <<-EOS
    dash
    EOS
puts <<~EOS
  squiggly
    two more
  #{name}
    #{1 + 1} x

  end
EOS
puts <<~'EOS'
  raw #{name} \n
EOS
a, b = <<~A, <<~B
  first
A
  second
B
p a, b
p <<~X.lines.map(&:chomp)
  one
  two
X
def f(s, n) = s * n
puts f(<<~T, 2)
  arg
T
p <<~"Q"
  tab\there
Q
p(<<~E)
  	tab
    space
E
x = [<<~ONE, <<~TWO].map(&:strip)
  1
ONE
  2
TWO
p x
puts <<~A + "tail"
  head
A
puts <<~OUTER
  outer #{<<~INNER.strip} done
    inner
  INNER
OUTER
p <<~EMPTY
EMPTY
p <<~C
  a\
  b
C
