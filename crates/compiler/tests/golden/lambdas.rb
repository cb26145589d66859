l = ->(a, b = 1, *c, k: 2, &d) { a }
m = lambda { |x| return x }
n = proc { |x, y| [x, y] }
-> x { -> y { x + y } }
l.(1)
l[2]
