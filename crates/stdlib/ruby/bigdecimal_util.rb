# to_d of the numbers and Strings.
class Integer
  def to_d = BigDecimal(self)
end

class Float
  def to_d(digits = 0) = BigDecimal(self, digits)
end

class String
  def to_d = BigDecimal.interpret_loosely(self)
end

class BigDecimal
  def to_digits
    finite? && !zero? ? to_s("F") : to_s
  end
end

class Rational
  def to_d(digits = 0) = BigDecimal(self, digits)
end

class Complex
  def to_d(*digits)
    BigDecimal(self) unless imaginary.zero?
    BigDecimal(real) if digits.empty? && real.is_a?(Rational)
    real.to_d(*digits)
  end
end

class NilClass
  def to_d = BigDecimal(0)
end
