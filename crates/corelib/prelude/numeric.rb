class Numeric
  include Comparable

  def +@
    self
  end

  def -@
    a, b = coerce(0)
    a - b
  end

  def abs
    self < 0 ? -self : self
  end

  alias magnitude abs

  def abs2
    self * self
  end

  def arg
    negative? ? Math::PI : 0
  end

  alias angle arg

  alias phase arg

  def polar
    [abs, arg]
  end

  def rectangular
    [self, 0]
  end

  alias rect rectangular

  def real
    self
  end

  def imaginary
    0
  end

  alias imag imaginary

  def conj
    self
  end

  alias conjugate conj

  def i
    Complex(0, self)
  end

  def to_c
    Complex(self, 0)
  end

  def to_int
    self.to_i
  end

  def real?
    true
  end

  def integer?
    false
  end

  def finite?
    true
  end

  def infinite?
    nil
  end

  def zero?
    self == 0
  end

  def nonzero?
    zero? ? nil : self
  end

  def positive?
    self > 0
  end

  def negative?
    self < 0
  end

  def div(other)
    raise ZeroDivisionError, "divided by 0" if other == 0
    (self / other).floor
  end

  def %(other)
    self - other * div(other)
  end

  alias modulo %

  def divmod(other)
    [div(other), self % other]
  end

  def fdiv(other)
    to_f / other
  end

  private def singleton_method_added(name)
    singleton_class.__send__(:remove_method, name)
    raise TypeError, "can't define singleton method \"#{name}\" for #{self.class}"
  end

  def quo(other)
    if other.is_a?(Float)
      fdiv(other)
    else
      r = to_r
      raise TypeError, "wrong argument type #{r.class} (expected Rational)" unless Rational === r
      r / other
    end
  end

  def numerator
    to_r.numerator
  end

  def denominator
    to_r.denominator
  end

  def floor(ndigits = 0)
    to_f.floor(ndigits)
  end

  def ceil(ndigits = 0)
    to_f.ceil(ndigits)
  end

  def round(ndigits = 0, half: nil)
    to_f.round(ndigits, half: half)
  end

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

class NilClass
  def to_r
    Rational(0, 1)
  end

  def rationalize(eps = 0)
    Rational(0, 1)
  end

  def to_c
    Complex(0, 0)
  end
end

class Random
  module Formatter
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
