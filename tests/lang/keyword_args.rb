def k(a:, b: 2, **rest) = [a, b, rest.to_a]
p k(a: 1), k(a: 1, b: 3, c: 4), k(**{ a: 5 })
h = { a: 1, b: 9 }
p k(**h, b: 10), k(**h)
a = 7
b = 8
p k(a:, b:)
def mixed(x, y = 2, *z, k: 1) = [x, y, z, k]
p mixed(1)
p mixed(1, k: 3)
p mixed(1, 2, 3, k: 4)
p mixed({ k: 5 }.size)
def order(a: (puts "a"; 1), b: (puts "b"; a + 1)) = [a, b]
p order, order(b: 5), order(a: 3)
def opts(**o) = o.to_a
p opts
p opts("s": 1)
p opts(if: 1)
p opts("x y": 2)
def pos_hash(h) = h.to_a
p pos_hash(a: 1), pos_hash({ a: 1 })
begin
  k(1)
rescue ArgumentError => e
  puts e.message
end
begin
  k
rescue ArgumentError => e
  puts e.message
end
begin
  mixed(1, z: 2)
rescue ArgumentError => e
  puts e.message
end
l = ->(x:, y: x * 2) { [x, y] }
p l.(x: 1), l.call(x: 1, y: 1)
def block_kw = yield(1, k: 2)
block_kw { |a, k:| p [a, k] }
block_kw { |a, **o| p [a, o.to_a] }
def fwd(*args, **kw) = mixed(*args, **kw)
p fwd(1, k: 2), fwd(1)
s = Struct.new(:a, :b, keyword_init: true)
p s.new(a: 1, b: 2).to_a
def kwnil(a: nil) = a.inspect
p kwnil, kwnil(a: false)
def splat_then_hash(*a) = a
p splat_then_hash(*[1], **{}), splat_then_hash(**{}).size
key = :dyn
p opts(key => 1, "#{key}x": 2)
def ret(if:, class: 1) = [binding.local_variable_get(:if), binding.local_variable_get(:class)]
p ret(if: 3)
