# Common divisors of large Integers.
random = Random.new(5)
ok = 300.times.all? do |i|
  g = random.rand(1..2**(i * 3 + 1))
  a, b = g * random.rand(2**(i * 2 + 1)), g * -random.rand(2**(300 - i))
  d = a.gcd(b)
  x, y = a, b
  x, y = y, x % y until y == 0
  d == x.abs && (a == 0 || b == 0 ? a.lcm(b) == 0 : a.lcm(b) * d == (a * b).abs) && a.gcdlcm(b) == [d, a.lcm(b)]
end
p ok
p (3**400).gcd(3**300) == 3**300, (2**200).gcd(0) == 2**200, 0.gcd(-(2**200)) == 2**200, (2**200).gcd(12), 12.gcd(2**200), (2**64).gcd(2**63), (-2**62).gcd(2**62)
p (1..60).sum { |i| Rational(1, i) }
p Rational(7**100, 7**98 * 3), (2**100).lcm(6), (2**100).lcm(0)
