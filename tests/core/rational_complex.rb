r = Rational(3, 4)
p r
p r + 1
p r * r
p r / 2
p r - 0.5
p r**2
p r**-1
p r.to_f
p r.to_i
p r.round
p r.ceil
p r.floor
p r <=> 1
p r == 0.75
p r.numerator
p r.denominator
p r.to_s
p Rational("2/6")
p Rational(1.5)
p Rational("0.125")
p 3.to_r
p r.zero?
p(-r)
p r.abs
p r.truncate
p Rational(7, 3).round(1)
p Rational(7, 3).divmod(1)
c = Complex(3, 4)
p c
p c.abs
p c.real
p c.imaginary
p c.conj
p c + 1
p c * c
p c / Complex(1, 1)
p c == Complex(3, 4)
p c.to_s
p c.rectangular
p Complex("1+2i")
p c.arg.round(4)
p c**2
begin; Rational(1, 0); rescue ZeroDivisionError => e; p e.message; end
