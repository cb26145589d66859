# Sums of moments with rests of nanoseconds.
t = Time.at(1, 1.to_r / 3, :nanosecond).utc
p t.subsec, (t + Rational(1, 7)).subsec, (t + 1).subsec, (t - 1).to_r, (t + Rational(2, 3_000_000_000)).subsec, (t - Rational(1, 3_000_000_000)).subsec
p Time.at(Rational(-1, 3)).utc.to_r, Time.at(Rational(1, 10**12)).utc.to_r, Time.at(Rational(-10**15, 7)).to_r, Time.at(Rational(2**80, 3)).to_r, Time.at(2**70).utc.year
p Time.at(0, Rational(1, 3)).to_r, (Time.at(Rational(1, 3)) - Time.at(Rational(1, 7))), Time.at(Rational(5, 2)) <=> Time.at(2.5)
p (Time.at(Rational(1, 3)) + 10**12).to_r, (Time.at(2**62) + Rational(1, 3)).to_r, (Time.at(-2**62 + 1) - Rational(1, 3)).to_r
