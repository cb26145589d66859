# BigDecimal's powers and roots, and BigMath's logarithm and exponential function.
class BigDecimal
  VERSION = "4.0.1"
  BASE = 1_000_000_000
  EXCEPTION_ALL = 255
  EXCEPTION_NaN = 2
  EXCEPTION_INFINITY = 1
  EXCEPTION_UNDERFLOW = 4
  EXCEPTION_OVERFLOW = 1
  EXCEPTION_ZERODIVIDE = 16
  ROUND_MODE = 256
  ROUND_UP = 1
  ROUND_DOWN = 2
  ROUND_HALF_UP = 3
  ROUND_HALF_DOWN = 4
  ROUND_CEILING = 5
  ROUND_FLOOR = 6
  ROUND_HALF_EVEN = 7
  SIGN_NaN = 0
  SIGN_POSITIVE_ZERO = 1
  SIGN_NEGATIVE_ZERO = -1
  SIGN_POSITIVE_FINITE = 2
  SIGN_NEGATIVE_FINITE = -2
  SIGN_POSITIVE_INFINITE = 3
  SIGN_NEGATIVE_INFINITE = -3
  INFINITY = BigDecimal("Infinity")
  NAN = BigDecimal("NaN")

  class << self
    undef_method :new
    undef_method :allocate

    # Keeps what `mode` says about exceptions as it was before the block.
    def save_exception_mode
      saved = mode(EXCEPTION_ALL)
      yield
    ensure
      mode(EXCEPTION_ALL, false)
      mode(saved, true) if saved != 0
    end

    # Keeps the way of rounding as it was before the block.
    def save_rounding_mode
      saved = mode(ROUND_MODE)
      yield
    ensure
      mode(ROUND_MODE, saved)
    end

    # Keeps the limit of digits as it was before the block.
    def save_limit
      saved = limit
      yield
    ensure
      limit(saved)
    end
  end

  # The square root to this number of digits, 0: as many as the number has and some more; FloatDomainError for negative numbers.
  #
  #     BigDecimal("2").sqrt(10).round(9).to_s   #=> "0.1414213562e1"
  def sqrt(digits)
    digits = Internal.digits(digits, :sqrt, zero: true)
    return Internal.infinity if infinite? == 1
    raise FloatDomainError, "sqrt of negative value" if self < 0
    raise FloatDomainError, "sqrt of 'NaN'(Not a Number)" if nan?
    return self if zero?
    digits = BigDecimal.limit.nonzero? || n_significant_digits + BigDecimal.double_fig if digits == 0
    __sqrt(digits)
  end

  # The power.
  def **(other)
    case other
    when BigDecimal, Integer, Float, Rational then power(other)
    when nil then raise TypeError, "wrong argument type NilClass"
    else
      a, b = other.coerce(self)
      a**b
    end
  end

  # To the power of `other`: exact for Integers (limit and digits 0), else to a number of digits.
  def power(other, digits = 0)
    digits = Internal.digits(digits, :power, zero: true)
    other = Internal.coerce(other, digits.nonzero? || n_significant_digits)
    return Internal.nan if nan? || other.nan?
    return BigDecimal(1) if other.zero?
    return power_of_infinity(other) if other.infinite?
    odd = other.frac.zero? && other % 2 == 1
    if infinite? && other < 0
      return self < 0 && odd ? -BigDecimal(0) : BigDecimal(0)
    end
    if zero?
      return BigDecimal(0) if other > 0
      return odd && sign == SIGN_NEGATIVE_ZERO ? -Internal.infinity : Internal.infinity
    end
    if self < 0
      raise Math::DomainError, "Computation results in complex number" unless other.frac.zero?
      result = (-self).power(other, digits)
      return odd ? -result : result
    end
    return BigDecimal(1) if self == 1
    return other > 0 ? Internal.infinity : BigDecimal(0) if infinite?

    digits = BigDecimal.limit if digits == 0
    return power_exact(other.to_i) if digits == 0 && other.frac.zero?
    if digits == 0
      digits = [n_significant_digits, other.n_significant_digits, BigDecimal.double_fig].max + BigDecimal.double_fig
    end
    if other < 0
      inverse = power(-other, digits + 2)
      return BigDecimal(0) if inverse.infinite?
      return Internal.infinity if inverse.zero?
      return BigDecimal(1).div(inverse, digits)
    end
    power_to(other, digits)
  end

  private def power_of_infinity(other)
    if self < 0
      return BigDecimal(0) if self < -1 ? other.negative? : self > -1 && other.positive?
      raise Math::DomainError, "Result undefined for negative base raised to infinite power"
    end
    return BigDecimal(1) if self == 1
    (self > 1) == other.positive? ? Internal.infinity : BigDecimal(0)
  end

  private def power_exact(n)
    result = BigDecimal(1)
    square = self
    rest = n.abs
    until rest == 0
      # Beyond the range of exponents, before its digits fill memory.
      if (square.exponent.abs - 1) * rest >= 0x7fff_ffff_ffff_ffff
        return (square.exponent > 0) ^ (n < 0) ? Internal.infinity : BigDecimal(0)
      end
      result *= square if rest.odd?
      rest >>= 1
      square *= square if rest > 0
    end
    n < 0 ? BigDecimal(1) / result : result
  end

  private def power_to(other, digits)
    BigDecimal.save_limit do
      BigDecimal.limit(0)
      if other.frac.zero? && other.exponent < Math.log(digits) * 5 + 20
        more = digits + BigDecimal.double_fig + other.exponent
        result = BigDecimal(1)
        square = self
        rest = other.to_i
        while rest > 0
          result = result.mult(square, more) if rest.odd?
          rest >>= 1
          square = square.mult(square, more) if rest > 0
        end
        result.mult(1, digits)
      else
        more = digits + BigDecimal.double_fig
        log = BigMath.log(self, more)
        scale = [log.exponent + other.exponent, 0].max
        log = BigMath.log(self, more + scale) if scale > 0
        BigMath.exp(log.mult(other, more + scale), digits)
      end
    end
  end

  # Arguments of the functions.
  # :nodoc:
  module Internal
    class << self
      def coerce(x, digits)
        case x
        when BigDecimal then x
        when Integer, Float then BigDecimal(x, 0)
        when Rational then BigDecimal(x, [digits, 2 * BigDecimal.double_fig].max)
        else raise ArgumentError, "#{x.inspect} can't be coerced into BigDecimal"
        end
      end

      def digits(n, name, zero: false)
        unless n.is_a?(Integer)
          raise TypeError, "no implicit conversion of #{n.class} into Integer" unless n.respond_to?(:to_int)
          given, n = n, n.to_int
          raise TypeError, "can't convert #{given.class} to Integer" unless n.is_a?(Integer)
        end
        raise ArgumentError, "Negative precision for #{name}" if zero && n < 0
        raise ArgumentError, "Zero or negative precision for #{name}" if !zero && n <= 0
        n
      end

      def infinity
        if BigDecimal.mode(EXCEPTION_ALL).anybits?(EXCEPTION_INFINITY)
          raise FloatDomainError, "Computation results in 'Infinity'"
        end
        INFINITY
      end

      def nan
        if BigDecimal.mode(EXCEPTION_ALL).anybits?(EXCEPTION_NaN)
          raise FloatDomainError, "Computation results to 'NaN'"
        end
        NAN
      end

      # The names that bigdecimal/math, a file of the library, calls them by.
      def coerce_to_bigdecimal(x, digits, _name) = coerce(x, digits)
      def coerce_validate_prec(digits, name, accept_zero: false) = digits(digits, name, zero: accept_zero)
      alias infinity_computation_result infinity
      alias nan_computation_result nan
    end
  end

  # Times a power of ten: exact, whatever the limit of digits.
  def _decimal_shift(n)
    return self if !finite? || zero? || n == 0
    sign, digits, base, exponent = split
    BigDecimal("#{"-" if sign < 0}0.#{digits}e#{exponent + n}")
  end

  class << self
    def __log(x, digits)
      digits = Internal.digits(digits, :log)
      raise Math::DomainError, "Complex argument for BigMath.log" if x.is_a?(Complex)
      x = Internal.coerce(x, digits)
      return Internal.nan if x.nan?
      raise Math::DomainError, "Negative argument for log" if x < 0
      return -Internal.infinity if x.zero?
      return Internal.infinity if x.infinite?
      return BigDecimal(0) if x == 1
      x.__send__(:__log, digits)
    end

    def __exp(x, digits)
      digits = Internal.digits(digits, :exp)
      x = Internal.coerce(x, digits)
      return Internal.nan if x.nan?
      return x.positive? ? Internal.infinity : BigDecimal(0) if x.infinite?
      return BigDecimal(1) if x.zero?
      x.__send__(:__exp, digits)
    end
    private :__log, :__exp
  end
end

module BigMath
  module_function

  # The natural logarithm to this number of digits; Math::DomainError for negative numbers.
  def log(x, digits) = BigDecimal.__send__(:__log, x, digits)
  # e to the power of `x`, to this number of digits.
  #
  #     BigMath.exp(1, 10).round(9).to_s   #=> "0.2718281828e1"
  def exp(x, digits) = BigDecimal.__send__(:__exp, x, digits)
end
