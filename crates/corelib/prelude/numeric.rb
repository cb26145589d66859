class Numeric
  include Comparable

  # The number itself.
  def +@
    self
  end

  # The number with the other sign.
  def -@
    pair = coerce(0)
    raise TypeError, "coerce must return [x, y]" unless Array === pair && pair.size == 2
    pair[0] - pair[1]
  end

  # The number without sign.
  def abs
    self < 0 ? -self : self
  end

  alias magnitude abs

  # The square.
  def abs2
    self * self
  end

  # 0, or pi for a negative number.
  def arg
    negative? ? Math::PI : 0
  end

  alias angle arg

  alias phase arg

  # `[abs, arg]`
  def polar
    [abs, arg]
  end

  # `[self, 0]`
  def rectangular
    [self, 0]
  end

  alias rect rectangular

  # The number itself.
  def real
    self
  end

  # 0.
  def imaginary
    0
  end

  alias imag imaginary

  # The number itself.
  def conj
    self
  end

  alias conjugate conj

  # The number times i, a Complex.
  def i
    Complex(0, self)
  end

  # The number as Complex.
  def to_c
    Complex(self, 0)
  end

  # The number as Integer, by `to_i`.
  def to_int
    self.to_i
  end

  # True; false for Complex.
  def real?
    true
  end

  # False; true for an Integer.
  def integer?
    false
  end

  # True; Float, Complex and others have their own answers.
  def finite?
    true
  end

  # Nil; Float, Complex and others have their own answers.
  def infinite?
    nil
  end

  # Whether it is 0.
  def zero?
    self == 0
  end

  # The number itself, or nil for 0.
  def nonzero?
    zero? ? nil : self
  end

  # Whether it is above 0.
  def positive?
    self > 0
  end

  # Whether it is below 0.
  def negative?
    self < 0
  end

  # The quotient rounded down, an Integer; ZeroDivisionError for 0.
  def div(other)
    raise ZeroDivisionError, "divided by 0" if other == 0
    (self / other).floor
  end

  # What is left over when the quotient is rounded down.
  def %(other)
    self - other * div(other)
  end

  alias modulo %

  # `[quotient rounded down, rest]`
  def divmod(other)
    [div(other), self % other]
  end

  # The quotient as Float.
  def fdiv(other)
    to_f / other
  end

  private def singleton_method_added(name)
    singleton_class.__send__(:remove_method, name)
    raise TypeError, "can't define singleton method \"#{name}\" for #{self.class}"
  end

  # The exact quotient, a Rational; with a Float a Float.
  def quo(other)
    if other.is_a?(Float)
      fdiv(other)
    else
      raise TypeError, "can't convert #{self.class} into Rational" unless respond_to?(:to_r)
      r = to_r
      raise TypeError, "wrong argument type #{r.class} (expected Rational)" unless Rational === r
      r / other
    end
  end

  # The numerator of the number as Rational.
  def numerator
    to_r.numerator
  end

  # The denominator of the number as Rational.
  def denominator
    to_r.denominator
  end

  # Rounded down to `ndigits` digits behind the point.
  def floor(ndigits = 0)
    to_f.floor(ndigits)
  end

  # Rounded up to `ndigits` digits behind the point.
  def ceil(ndigits = 0)
    to_f.ceil(ndigits)
  end

  # Rounded to `ndigits` digits behind the point; `half:` is `:up`, `:even` or `:down`.
  def round(ndigits = 0, half: nil)
    to_f.round(ndigits, half: half)
  end

  # Cut off behind `ndigits` digits behind the point.
  def truncate(ndigits = 0)
    to_f.truncate(ndigits)
  end

  private

  # Numbers have no singleton methods.
  def singleton_method_added(name)
    singleton_class.__send__(:remove_method, name)
    raise TypeError, "can't define singleton method \"#{name}\" for #{self.class}"
  end
end

class Random
  module Formatter
    # A number from 0 to below the limit, or in a Range; a Float below 1 for nil, 0 and less.
    def random_number(limit = nil)
      case limit
      when nil, false
        __real
      when Integer
        limit > 0 ? __below(limit) : __real
      when Float
        limit > 0 ? __real * limit : __real
      when Range
        __within(limit)
      else
        raise ArgumentError, "invalid argument - #{limit.inspect}"
      end
    end

    # A number from 0 to below the limit, or in a Range; a Float below 1 without a limit. ArgumentError for 0 and less.
    def rand(limit = nil)
      return __real if limit.nil?
      valid = case limit
              when Integer, Float then limit > 0
              when Range then true
              else false
              end
      raise ArgumentError, "invalid argument - #{limit.inspect}" unless valid
      random_number(limit)
    end

    private

    # 53 bits of the object's own bytes.
    def __real
      (bytes(8).unpack1("Q<") >> 11) / 9007199254740992.0
    end

    def __below(limit)
      size = ((limit - 1).bit_length + 7) / 8
      return 0 if size == 0
      mask = (1 << (limit - 1).bit_length) - 1
      while true
        n = bytes(size).unpack("C*").inject(0) { |a, b| a << 8 | b } & mask
        return n if n < limit
      end
    end

    def __within(range)
      low = range.begin
      high = range.end
      if low.is_a?(Integer) && high.is_a?(Integer)
        span = high - low + (range.exclude_end? ? 0 : 1)
        raise ArgumentError, "invalid argument - #{range.inspect}" if span <= 0
        low + __below(span)
      else
        low + __real * (high - low)
      end
    end
  end

  extend Formatter
  include Formatter
end
