# An implicit super in the default of a parameter: those behind it are nil.
class S0; def f(a, b, **k) = [a, b, k]; end
class S1 < S0
  def f(a, b = super, k: [1][0]) = b
end
p S1.new.f(1), S1.new.f(1, k: 2), S1.new.f(1, 3)
class S2; def f(k:, j:) = [k, j]; end
class S3 < S2; def f(k: super, j: [1][0]) = k; end
p S3.new.f, S3.new.f(j: 4)
class S4; def f(*a) = a; end
class S5 < S4; def f(a, b = super, c = super) = [a, b, c]; end
p S5.new.f(1), S5.new.f(1, 2), S5.new.f(1, 2, 3)
class S6 < S4; def f(a, b = [1].each { |x| break super }, c = -> { b }) = [a, b, c.call]; end
p S6.new.f(1)
