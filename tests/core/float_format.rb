[0.0, -0.0, 1.0, 1.5, 0.1, 1e-4, 1e-5, 123456789012345.0, 1e15, 1e16, 9999999999999998.0, 1e17, 1.0e-10, 3.0e-5, 1e300, 2.5e-300, 1.1, 2.2 + 1.1, 1 / 3.0, 100.0, 1e2, 12345.678, 4.9e-324, 1.7976931348623157e308, 0.1 + 0.2, 1e23, 9007199254740993.0].each { |f| puts f }
p Float::INFINITY
p(-Float::INFINITY)
p Float::NAN
p Float::MAX
p Float::MIN
p Float::EPSILON
p Float::DIG
p Float::MANT_DIG
puts "%.0f %.1f %.2f %5.1f %-8.2f| %08.3f %+.1f % .2f" % [2.5, 0.05, 1.005, 3.14159, 2.5, -3.14159, 2.0, 1.0]
puts "%e %.3e %E %g %g %g %G %a" % [12345.678, 0.00012, 1.5, 1e10, 1e-5, 123.0, 1e-10, 1.0]
puts "%s %p" % [1.0, 2.5], 1e2.to_s, 1.23456789012345e+25.to_s, 1.0e-7.inspect
p 1.5.floor
p(-1.5.ceil)
p 1.5.round
p 2.5.round
p(-2.5.round)
p 2.5.round(half: :even)
p 2.5.round(half: :down)
p 1.25.round(1)
p 1.35.round(1)
p 0.5.round
p 1234.567.round(-2)
p 1234.567.floor(1)
p 1234.567.ceil(1)
p 1e20.round(2)
p 12.0.round(2)
p 3.7 % 1
p(-3.7 % 1)
p 3.7.divmod(1.2)
p(-7.5.divmod(2))
p 7.5.remainder(2)
p 5.0.div(2)
p 3.7.truncate
p 3.789.truncate(2)
p 1e30.to_i
p 0.1 == 0.1
p 0.1.eql?(0.1)
p 1.0.eql?(1)
p 1.0 == 1
p 1.0.hash == 1.0.hash
p 0.0 == -0.0
p Float::NAN == Float::NAN
p 1.0 <=> Float::NAN
p 1.5.nan?
p 1.5.infinite?
p((1 / 0.0).infinite?)
p 1.5.finite?
p 1.5.to_r
p 0.5.rationalize
p 3.14.rationalize(0.01)
p 1.0.next_float
p 1.0.prev_float
p 1.5.to_i
p 1.9.to_i
p(-1.9.to_i)
begin; Float::NAN.to_i; rescue FloatDomainError => e; p e.message; end
begin; Float::INFINITY.to_i; rescue FloatDomainError => e; p e.message; end
begin; 1.0.divmod(0); rescue ZeroDivisionError => e; p e.message; end
p Float("1e5")
p Float("0x1p3")
p Float("1_0.5")
p((Float("1e") rescue "bad"))
p((Float("") rescue "bad"))
p Float("zz", exception: false)
p "1.5abc".to_f
p ".5".to_f
p "1e400".to_f
p "-0".to_f
p 1.0.to_s.encoding
p 3.0 * 2
p 3 * 2.0
p 2**-1.0
p 10.0.to_i
p 1e3.to_i
