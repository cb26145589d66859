p 3r
p 1.5r
p 2i
p 3r / 4
p 1r + 1
p 2**-1
p 0.5.to_r
p 1.quo(2)
p 3.to_c
p 0.5.rationalize
p Rational(6, 4)
p Rational("1/3")
p Complex(1, 2) * Complex(0, 1)
p((1r / 3).to_f.round(3))
