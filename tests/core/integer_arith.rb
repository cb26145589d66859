p 7 / 2
p(-7 / 2)
p 7 % -3
p 7.divmod(-2)
p 7.modulo(3)
p(-7.remainder(3))
p 7.div(2.0)
p 2**100
p 3.pow(200, 13)
p 10.ceil(-1)
p 15.floor(-1)
p 15.round(-1)
p 25.round(-1, half: :even)
p 5.pred
p 5.succ
p 5.ord
p 5.size
p 0b1011.bit_length
p 10.digits(3)
p 10.to_s(2)
p(-255.to_s(16))
p 255.to_s(36)
p 3.7.to_i
p 12.gcd(18)
p 12.lcm(18)
p 12.gcdlcm(18)
p 10.even?
p 10.odd?
p 5.positive?
p(-5.negative?)
p 0.zero?
p 5.nonzero?
p 0.nonzero?
p Integer.sqrt(99)
p Integer.sqrt(10**40)
p 5.coerce(2)
p 5.coerce(2.5)
p 1 <=> 2.5
p 1 == 1.0
p 3.eql?(3.0)
p 3.equal?(3)
p 6[0]
p 6[1]
p 0b1100[2, 2]
p 5 & 6
p 5 | 6
p 5 ^ 6
p(~6)
p(-1 >> 10)
p 1 << 3
p 8 >> 1
p 5.allbits?(4)
p 5.anybits?(2)
p 5.nobits?(2)
p 65.chr
p 233.chr(Encoding::UTF_8)
p 10.fdiv(4)
p 3.zero?
p 4.clamp(1, 3)
p 4.between?(1, 4)
p 3.integer?
p 3.finite?
p 3.infinite?
begin; 1 / 0; rescue ZeroDivisionError => e; p e.message; end
begin; 1 % 0; rescue ZeroDivisionError => e; p e.message; end
p 1.0 / 0
p 5.fdiv(0)
p 0 ** 0
p((-8) ** 3)
p 4 ** 0.5
p 4.0 ** 2
p Integer("0b101", 2)
p Integer("z", 36)
p Integer("1_000")
p Integer("-0x1A", 16)
p((Integer("1__0") rescue "bad"))
p Integer("x", exception: false)
p Integer(nil, exception: false)
begin; Integer("9", 8); rescue ArgumentError => e; p e.message; end
begin; 300.chr; rescue RangeError => e; p e.message; end
begin; 5.digits(1); rescue ArgumentError => e; p e.message; end
begin; -5.digits; rescue Math::DomainError => e; p e.message; end
p 3.times.map { |i| i }, 1.upto(4).select(&:even?), 3.downto(1).to_a
p 1.next
p 100.hash == 100.hash
p 5.dup
p 5.to_c
p 5.numerator
p 5.denominator
p 7.rationalize
