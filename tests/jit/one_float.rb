# A Float that is no flonum (NaN, beyond 2**256) is one object, however often machine code has to make an object of it: it is `equal?` to itself, and a key of Hashes.
i = bad = b2 = b3 = b5 = 0
while i < 300000
  n = 0.0/(i-i)
  bad += 1 unless {n=>i}[n] == i
  b2  += 1 unless [n].include?(n)
  b3  += 1 unless [n] == [n]
  b5 += 1 unless [n,n].uniq.size == 1
  i += 1
end
p bad, b2, b3, b5
i = bad = 0
while i < 300000; y = 2.0**256*(i+1); bad += 1 unless y.equal?(y); i += 1; end
p bad
class Q; attr_accessor :v; end
o = Q.new; a = [nil]; i = b3 = b4 = b6 = 0
while i < 300000
  y = 1e300*(i+1); o.v = y; a[0] = y
  b3 += 1 unless a[0].equal?(o.v)
  h = {}.compare_by_identity; h[y] = 1
  b4 += 1 unless h[y]
  z = y
  b6 += 1 unless z.equal?(y) && a[0].equal?(z)
  i += 1
end
p b3, b4, b6
def g(a) = a.equal?(a)
def f(a) = (b = a*2.0; [b.equal?(b), g(b), b.object_id==b.object_id])
300000.times{ f(1.5) }; 300000.times{ f(1e300) }
p f(1e300), f(Float::NAN)
def k(b,h); h[b]=1; h[b]; end
500.times { k(1.5, {}) }
p k(Float::NAN, {})
def k3(a) = (x = a * 1.0; a.equal?(a))
500.times { k3(1.5) }
p k3(Float::NAN)
def id(a) = (a > 1.0; a)
x = 1e300; 100000.times { id(2.5) }
p id(x).equal?(x)
def lp(a, n) = (i = 0; s = a; while i < n; s = a if i == 3; i += 1; s > 1.0; end; s)
p lp(x, 100_000).equal?(x)
def sw(a, n) = (i = 0; r = true; b = a; while i < n; c = b * 2.0; b = c; d = c; r &&= d.equal?(b); b = a; i += 1; end; r)
p sw(1e300, 100000)
def bl(n) = (s = 1e300; t = nil; n.times { |i| s = s * 1.0; t = s }; [s.equal?(t), s])
p bl(100000)[0]
def literal(n) = (i = 0; r = true; x = y = 1e300; while i < n; x = 1e300; r &&= i == 0 || x.equal?(y); y = x; i += 1; end; r)
p literal(100_000)
def one = 1e300
p 100_000.times.all? { one.equal?(one) }
