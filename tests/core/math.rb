p Math.sqrt(2)
p Math.cbrt(27)
p Math.sin(1)
p Math.cos(1)
p Math.tan(1)
p Math.atan(1)
p Math.atan2(1, -1)
p Math.exp(1)
p Math.log(10)
p Math.log(8, 2)
p Math.log2(1024)
p Math.log10(1000)
p Math.hypot(3, 4)
p Math.sinh(1)
p Math.acos(0.5)
p Math.asin(0.5)
p Math.erf(0.5)
p Math.gamma(5)
p Math.lgamma(10)
p Math::PI
p Math::E
p Math.sqrt(16)
p Math.sqrt(10**30)
p Math.log(2**1000)
p Math.frexp(10.0)
p Math.ldexp(0.5, 4)
begin; Math.sqrt(-1); rescue Math::DomainError => e; p e.message; end
begin; Math.log(-1); rescue Math::DomainError => e; p e.message; end
begin; Math.sqrt("x"); rescue TypeError => e; p e.message; end
begin; Math.sqrt(nil); rescue TypeError => e; p e.message; end
p Math.log(0), Math.sqrt(0.0), Math.atan(Float::INFINITY)
