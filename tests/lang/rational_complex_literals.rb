p 3r, 1.5r, 2i, 3r / 4, 1r + 1, 2**-1, 0.5.to_r, 1.quo(2), 3.to_c, 0.5.rationalize
p Rational(6, 4), Rational("1/3"), Complex(1, 2) * Complex(0, 1), (1r / 3).to_f.round(3)
