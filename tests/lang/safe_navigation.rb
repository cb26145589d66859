n = nil
p n&.length, n&.length&.foo, "abc"&.length
p n&.foo(raise("not evaluated"))
class A; attr_accessor :v; end
a = A.new
a&.v = 5
p a&.v
n&.v = (puts "never"; 1)
a&.v += 1
p a.v
h = { k: nil }
p h[:k]&.size
p h&.[](:k)
p h.dig(:k, :z)
p [nil, "a"].map { |x| x&.upcase }
p false&.to_s
