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

# What `to_r` and `to_c` read of a text.
texts = %w[1/3 -1/3 +4/6 0.75 -0.50 1.5/3 1.5/-3 1/3.5 3/1.25 12345678901/3 123456789.987654321/999999999 0.1234567891 1_000 1__0 1_/2 1/2_4 1e3 1.5e-3 1/2e2 1/2e .5 1. 1/ / 0/5 -0 007/014 2/4x 3r i -i 1i
           1+2i 1-2i -1.5+2.5i 1e2-3i 1/2+3/4i 3@1 1+i 1_0+2i 99999999999999999999-1i x]
texts.push "", " 1/3", "\n-2.5", "- 1", "+ 1/2", "1 /2", "1/ 2"
texts.each { |t| puts "#{t.inspect} #{t.to_r.inspect} #{t.to_c.inspect}" }
%w[1/0 0/0 1.5/0].each { |t| p t.to_r rescue p $!.class }
p ["@1", "+@1", "-@.5", " @1", "@", "1@", "1_@1", "i@1", "0@1"].map(&:to_c)
