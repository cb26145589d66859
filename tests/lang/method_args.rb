def a(x, y = x + 1, *z, w) = [x, y, z, w]
p a(1, 2), a(1, 2, 3), a(1, 2, 3, 4, 5)
def b(*) = c(1)
def c(*args, **kw, &blk) = [args, kw.to_a, blk && blk.call]
p b(9)
p c(1, k: 2) { 3 }
p c(*[1, 2], **{ z: 1 }), c({ "a" => 1 }).first.size
def d(x, (y, z), k = 3) = [x, y, z, k] rescue 0
p d(1, [2, 3])
def e(x, opt = {}) = [x, opt.to_a]
p e(1, a: 2), e(1, "s" => 3)
def f(...) = c(...)
p f(1, q: 2) { 4 }
def g(a, b = 2, *c, d, e:, f: 6, **g, &h); end
p method(:g).parameters, method(:g).arity
p method(:a).arity, method(:c).arity, method(:e).arity
def opt(a = (puts "default"; 1)) = a
opt
opt(2)
def ret_many = [1, 2, *[3]]
p ret_many
def last_hash(*args) = args
p last_hash(1, b: 2).size, last_hash({ b: 2 }).size
def nokw(**nil); end
begin
  nokw(a: 1)
rescue ArgumentError => x
  p x.message
end
def endless(x) = x * 2
p endless 4
def bang! = :bang
def ask? = true
def set=(v)
  @v = v
  :ignored
end
p bang!
p ask?
p((self.set = 5))
p @v
p send(:set=, 1)
def default_refers(a, b = a, c = [a, b]) = c
p default_refers(1)
p (def foo; end)
def op_order
  log = []
  m = ->(x) { log << x; x }
  [m.(1), m.(2)].push(m.(3))
  log
end
p op_order
def many(a, b, c, d, e, f, g, h, i, j) = [a, j]
p many(*1..10)
