# `**value` in an Array literal, or where one is made of values: an empty Hash adds nothing.
h = {}
p [1, **{}], [1, **h], [*[6, 7], **{}], [*[6, 7], **h], [1, **nil], [*[1], 2, **h], [*[1], **nil]
p [**h], [**{}], [**nil], [**h, **h], [*nil, **h], [*[], **h]
p [1, *[2], **h, a: 1], [1, a: 1, **h], [**h, **{"a" => 1}], [1, **{b: 2}, **h], [*[1], **{b: 2}]
p [[1], *nil, **{}], [[**h], **h]
def f(*a) = a
p f(1, **{}), f(*[1], **{}), f(*[1], **h), f(*[1], 2, **nil), f([1, **h], **h)
p(->(*a) { a }.(*[1], **h))
def y = yield(*[1], **{})
y { |*a| p a }
def leave(h) = (return 1, **h)
def leave_splat(h) = (return *[1], **h)
p leave(h), leave_splat(h), leave({a: 1})
p [1].each { |x| break 1, **h }
p [1].map { |x| next 1, **h }
begin
  [1, **5]
rescue TypeError => e
  p e.message
end
o = Object.new
def o.to_hash = {}
p [1, **o], [**o, **o, **{b: 1}], [*nil, **o, **{b: 1}]
g = {a: 1}
copy = [**g]
copy[0][:b] = 2
p g, copy
def any(**) = [1, **]
p any, any(k: 1)
long = eval("[#{(1..300).to_a.join(", ")}, **h]")
p long.size, long.last
[f(1), **h]
