# Rational with Float: quotient, remainder and both, by the definitions of Numeric.
p 3r % 0.1, 3r.modulo(0.1), Rational(7,2).divmod(0.1), Rational(2).remainder(0.3)
p Rational(-7,2) % 0.3, Rational(-7,2).divmod(0.3), Rational(-7,2).remainder(0.3), Rational(7,2).remainder(-0.3)
p Rational(7,2) % 0.0 rescue p $!
p Rational(7,2).divmod(0.0) rescue p $!
p Rational(7,2).remainder(0.0) rescue p $!
p Rational(7,2) % Float::INFINITY rescue p $!
p Rational(-7,2) % Float::INFINITY rescue p $!
p Rational(7,2).divmod(Float::INFINITY) rescue p $!
p Rational(7,2).divmod(Float::NAN) rescue p $!
p Rational(7,2) % Float::NAN rescue p $!
p Rational(7,2).remainder(Float::INFINITY) rescue p $!
p Rational(-7,2).remainder(Float::INFINITY) rescue p $!
p Rational(7,2).remainder(Float::NAN) rescue p $!
p Rational(7,2).div(0.1), Rational(7,2).div(0.0) rescue p $!
p Rational(7,2).fdiv(0.1)
p Rational(7,2) % 2, Rational(7,2).divmod(2), Rational(-7,2).divmod(Rational(2,3)), Rational(-7,2).remainder(2), Rational(7,2).remainder(Rational(-2,3))
p Rational(7,2) % 0 rescue p $!
p Rational(7,2).remainder(0) rescue p $!
p 5 % 0.1, 5.remainder(0.3), 5.divmod(0.1), (2**70) % 0.1, (2**70).divmod(0.1), (2**70).remainder(0.3)
p 5 % Rational(1,3), 5.divmod(Rational(1,3)), 5.remainder(Rational(2,3)), 5.0 % Rational(1,10), 5.0.divmod(Rational(1,10)), 5.0.remainder(Rational(3,10))
p 5.div(0.1), 5.0.div(Rational(1,10)), (2**70).remainder(Rational(3,7)), (2**70).div(0.1)
p Rational(7,2).remainder(nil) rescue p $!
p Rational(7,2) % nil rescue p $!
p Rational(7,2) % "a" rescue p $!
p Rational(2**80,3) % 0.1,Rational(2**80,3).divmod(0.1)
