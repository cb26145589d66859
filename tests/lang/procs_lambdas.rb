l = ->(a, b = 2) { a + b }
p l.call(1)
p l.(1, 1)
p l[5]
p l.lambda?
p l.arity
pr = proc { |a, b| [a, b] }
p pr.call(1)
p pr.call(1, 2, 3)
p pr.call([4, 5])
p pr.lambda?
p pr.arity
begin
  l.call
rescue ArgumentError => e
  puts e.message
end
begin
  ->(){}.call(1)
rescue ArgumentError => e
  puts e.message
end
def lam_return
  l = lambda { return 1 }
  l.call
  2
end
def proc_return
  pr = proc { return 1 }
  pr.call
  2
end
p lam_return, proc_return
def make = proc { return 3 }
begin
  make.call
rescue LocalJumpError => e
  puts e.message
  p e.reason
end
add = ->(a, b, c) { a + b + c }
p add.curry[1][2][3], add.curry.(1, 2).(3)
compose = method(:Integer) >> ->(n) { n * 2 }
p compose.call("21")
p (->(x) { x + 1 } << ->(x) { x * 10 }).call(2)
p proc { |a, (b, *c), d = 4, *e, f:, g: 1, **h, &i| }.parameters
p lambda { |a, b = 1, *c, d, e:, f: 2, **g, &h| }.parameters
p proc { |x| }.arity
p proc { |*x| }.arity
p proc { |x, y = 1| }.arity
p lambda { |x, y = 1| }.arity
p proc { || }.arity
p l === 3
counter = 0
inc = -> { counter += 1 }
3.times(&inc) rescue puts("arity")
inc.()
p counter
p :upcase.to_proc.call("abc")
p %w[1 2].map(&method(:Integer))
p (lambda(&l)).equal?(l)
p proc { next 5; 6 }.call
