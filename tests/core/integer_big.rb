a = 2**128
b = 3**90
p a
p b
p a + b
p a - b
p b - a
p a * b
p b / a
p b % a
p a / 12345
p a.divmod(987654321)
p((-a).divmod(7))
p a**3
p a & b
p a | b
p a ^ b
p(~a)
p a >> 100
p a << 5
p(-a >> 3)
p a[128]
p a[127]
p a.bit_length
p((-a).bit_length)
p a.to_s(16)
p b.to_s(7)
p a.digits.size
p a.hash == (2**128).hash
p a == 2.0**128
p a <=> b
p a.eql?(2**128)
p a.equal?(a)
p a.to_f
p b.to_f
p((10**25).fdiv(10**24))
p((10**400).to_f)
p a.coerce(1)
p a.even?
p b.odd?
p(-a.abs)
p a.pow(5, 1000007)
p Integer.sqrt(b)
p b.gcd(a)
p b.gcd(3**50)
p 100.downto(1).inject(:*)
p((10**50).to_s.size)
p Integer("1" * 60)
p(("9" * 40).to_i + 1)
p "0x#{'f' * 30}".hex
p(("7" * 30).oct)
p a > 5
p 5 < a
p a > 1.5
p a == 5
p [a, b, 1, -a].sort
p [a, b].max
p a.zero?
p a.positive?
p((2**64).floor(-5))
p((2**64).ceil(-5))
p((2**64).round(-5))
p a.succ - a
p a.pred - a
p a.remainder(-7)
p(-a % 7)
p((a * -1).abs == a)
p((a - a))
p((a - a).class)
p 2**64 - 2**64 + 1
p format("%d %x %o %b", a, a, 2**70, 2**66)
p "%e" % a
p "%.3f" % b
p "%+d" % a
p "%040d" % a
p Marshal.load(Marshal.dump(a)) == a if defined?(Marshal)
x = 1
200.times { |i| x = x * (i + 1) + i }
p x
