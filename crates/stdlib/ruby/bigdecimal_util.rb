# to_d of the numbers and Strings.
class Integer
  # The number as BigDecimal.
  def to_d = BigDecimal(self)
end

class Float
  # The number as BigDecimal, to this number of digits; 0: as many as its text has.
  def to_d(digits = 0) = BigDecimal(self, digits)
end

class String
  # The number that the text begins with, 0 if with none.
  #
  #     "1.5 EUR".to_d.to_s   #=> "0.15e1"
  def to_d = BigDecimal.interpret_loosely(self)
end

class BigDecimal
  # The number as text without exponent: "12.5".
  def to_digits
    finite? && !zero? ? to_s("F") : to_s
  end
end

class Rational
  # The number as BigDecimal to this number of digits; ArgumentError without one.
  def to_d(digits = 0) = BigDecimal(self, digits)
end

class Complex
  # The real part as BigDecimal; an Error if the imaginary part is not 0.
  def to_d(*digits)
    BigDecimal(self) unless imaginary.zero?
    BigDecimal(real) if digits.empty? && real.is_a?(Rational)
    real.to_d(*digits)
  end
end

class NilClass
  # 0 as BigDecimal.
  def to_d = BigDecimal(0)
end
