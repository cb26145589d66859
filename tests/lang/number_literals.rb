p 10 / 3
p(-10 / 3)
p 10 % 3
p(-10 % 3)
p 10.divmod(-3)
p 10.remainder(-3)
p 2**10
p 2**0.5
p 7.fdiv(2)
p 7 / 2.0
p 1e20.to_i
p 10**20
p 2**64
p(-(2**64))
p 4611686018427387904
p 9223372036854775807 + 1
p 1 <=> 2
p 1 == 1.0
p 1.eql?(1.0)
p 1.equal?(1)
p 3.zero?
p 0.zero?
p 5 & 3
p 5 | 3
p 5 ^ 3
p(~5)
p 1 << 70
p(-1 >> 3)
p 1 << -1
p((1 << 70) >> 68)
p 0.1 + 0.2
p 1.0 / 3
p 1e100
p 1e16
p 1e15
p 123456789.123456789
p 1.0e-5
p 0.0001
p(-0.0)
p 1.0 / 0
p(-1.0 / 0)
p((0.0 / 0).nan?)
p 100.0
p 1e2
p 1e22
p 1e23
p 5e-324
p 1.7976931348623157e308
p 3.7.to_i
p(-3.7.to_i)
p 3.7.round
p 3.2.ceil
p(-3.2.floor)
p 3.14159.round(2)
p 1234.round(-2)
p 2.5.round
p 3.5.round
p(-2.5.round)
p 2.5.round(half: :even), 2.5.round(half: :down), 25.round(-1, half: :even)
p 255.to_s(16)
p "ff".to_i(16)
p "0b11".to_i(0)
p "12abc".to_i
p "abc".to_i
p "3.7x".to_f
p "1e3".to_f
p Integer("0x1f", 16)
p Integer("11", 2)
p Integer("0b11")
p Integer(" 42 ")
p Float("1.5")
p Integer(3.99)
p 0.1 + 0.7
p 1.1 * 3
p 4.35 * 100
p 1.15.round(1)
p 1.25.round(1)
p 1.35.round(1)
