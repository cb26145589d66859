class Complex
  class << self
    # The number of a distance from 0 and an angle, in radians (0).
    #
    #     Complex.polar(2, Math::PI)   #=> (-2+0.0i)
    def polar(abs, arg = (only_abs = true; 0))
      abs = __real_of(abs)
      arg = __real_of(arg)
      only_abs ? __make(abs, 0) : __from_polar(abs, arg)
    end

    private

    def __real_of(v)
      v = v.real if v.is_a?(Complex) && v.imaginary == 0
      raise TypeError, "not a real" unless v.is_a?(Numeric) && v.real?
      v
    end

    def __from_polar(abs, arg)
      if abs == 0 || arg == 0
        __make(abs, 0.0)
      elsif arg.is_a?(Float) && arg == Math::PI
        __make(-abs, 0.0)
      elsif arg.is_a?(Float) && arg == Math::PI / 2
        __make(0.0, abs)
      else
        a = arg.to_f
        __make(abs * Math.cos(a), abs * Math.sin(a))
      end
    end
  end

  undef_method :%, :<, :<=, :>, :>=, :between?, :clamp, :div, :divmod, :floor, :ceil, :modulo, :remainder, :round, :step,
               :truncate, :i, :positive?, :negative?

  # False.
  def real?
    false
  end

  # `[real, imaginary]`
  def rectangular
    [real, imaginary]
  end

  alias rect rectangular

  # The number with other signs.
  def -@
    Complex.__send__(:__make, -real, -imaginary)
  end

  # Compares numbers without an imaginary part: -1, 0, 1; nil for others.
  def <=>(other)
    return nil unless imaginary == 0
    if other.is_a?(Complex)
      other.imaginary == 0 ? real <=> other.real : nil
    elsif other.is_a?(Numeric) && other.real?
      real <=> other
    elsif other.respond_to?(:coerce)
      begin
        a, b = other.coerce(real)
      rescue StandardError
        return nil
      end
      a <=> b
    end
  end

  # The quotient, exact if the parts are.
  #
  #     Complex(3, 4) / 2   #=> ((3/2)+2i)
  def /(other)
    __divide(other) { |a, b| a.quo(b) }
  end

  alias quo /

  # The quotient with Floats.
  def fdiv(other)
    __divide(other) { |a, b| a.fdiv(b) }
  end

  # The power.
  #
  #     Complex(0, 1) ** 2   #=> (-1+0i)
  def **(other)
    if other.is_a?(Complex) && other.imaginary != 0
      # Neither 0 nor 1 nor real.
      return Complex.__send__(:__make, 0, 0) if real == 0 && imaginary == 0
      return __complex_power(other.real, other.imaginary)
    end
    return Complex.__send__(:__make, 1, 0) if other == 0 && !other.is_a?(Float)
    if other.is_a?(Rational) && other.denominator == 1
      other = other.numerator
    end
    if other.is_a?(Complex) && other.imaginary.is_a?(Integer) && other.imaginary == 0
      other = other.real
    end
    if other == 1 && !other.is_a?(Float)
      return Complex.__send__(:__make, real, imaginary)
    end
    if self == 0
      raise ZeroDivisionError, "divided by 0" if other.is_a?(Numeric) && other.real? && other < 0
      return Complex.__send__(:__make, 0, 0)
    end
    return __complex_power(other.real, other.imaginary) if other.is_a?(Complex)
    if other.is_a?(Integer)
      return __integer_power(other)
    end
    if other.is_a?(Numeric) && other.real?
      r, theta = polar
      return Complex.polar(r ** other, theta * other)
    end
    raise TypeError, "#{other.nil? ? "nil" : other.class} can't be coerced into Complex" unless other.respond_to?(:coerce)
    a, b = other.coerce(self)
    a ** b
  end

  alias pow **

  private def __complex_power(re, im)
    theta = arg
    log = Math.log(abs)
    Complex.polar(Math.exp(re * log - im * theta), theta * re + im * log)
  end

  # The distance from 0.
  #
  #     Complex(3, 4).abs   #=> 5.0
  def abs
    a = real
    b = imaginary
    if a == 0
      a.is_a?(Float) && !b.is_a?(Float) ? b.abs.to_f : b.abs
    elsif b == 0
      b.is_a?(Float) && !a.is_a?(Float) ? a.abs.to_f : a.abs
    else
      Math.hypot(a, b)
    end
  end

  alias magnitude abs

  # The square of the distance from 0.
  def abs2
    real * real + imaginary * imaginary
  end

  # The angle in radians.
  def arg
    Math.atan2(imaginary.to_f, real.to_f)
  end

  alias angle arg

  alias phase arg

  # `[abs, arg]`
  def polar
    [abs, arg]
  end

  # The number with the other sign of its imaginary part.
  def conjugate
    Complex.__send__(:__make, real, -imaginary)
  end

  alias conj conjugate

  # Whether both parts are finite.
  def finite?
    real.finite? && imaginary.finite?
  end

  # 1 if a part is infinite, else nil.
  def infinite?
    real.infinite? || imaginary.infinite? ? 1 : nil
  end

  # Whether the other is an equal Complex with parts of the same classes.
  def eql?(other)
    other.is_a?(Complex) && real.class == other.real.class && imaginary.class == other.imaginary.class && self == other
  end

  # Both as Complex; TypeError for what is no number.
  def coerce(other)
    if other.is_a?(Complex)
      [other, self]
    elsif other.is_a?(Numeric) && other.real?
      [Complex.__send__(:__make, other, 0), self]
    else
      name = case other
             when nil, true, false, Symbol then other.inspect
             else other.class
             end
      raise TypeError, "#{name} can't be coerced into Complex"
    end
  end

  # The numerator, a Complex, over the `denominator`.
  def numerator
    d = denominator
    Complex.__send__(:__make, real.numerator * (d / real.denominator), imaginary.numerator * (d / imaginary.denominator))
  end

  # The least common denominator of the parts.
  def denominator
    real.denominator.lcm(imaginary.denominator)
  end

  # The number itself.
  def to_c
    self
  end

  # The real part as Integer; RangeError if the imaginary part is not exactly 0.
  def to_i
    __exact_real(:to_i, "Integer")
  end

  # The real part as Float; RangeError if the imaginary part is not exactly 0.
  def to_f
    __exact_real(:to_f, "Float")
  end

  # The real part as Rational; RangeError if the imaginary part is not 0.
  def to_r
    if imaginary.is_a?(Float) && imaginary == 0.0
      return real.to_r
    end
    im = imaginary
    unless im.is_a?(Float) || im.is_a?(Integer) || im.is_a?(Rational)
      # A number of the program's is asked for its exact value.
      return real.to_r if im.respond_to?(:to_r) && im.to_r == 0
    end
    __exact_real(:to_r, "Rational")
  end

  # The simplest Rational near the real part; RangeError if the imaginary part is not exactly 0.
  def rationalize(eps = (none = true; nil))
    if imaginary.is_a?(Float) || !(imaginary == 0)
      raise RangeError, "can't convert #{self} into Rational"
    end
    none ? real.rationalize : real.rationalize(eps)
  end

  # The number as text: "1+2i".
  def to_s
    __text(real.to_s, imaginary.abs.to_s)
  end

  # The number as text in parentheses: "(1+2i)".
  def inspect
    "(#{__text(real.inspect, imaginary.abs.inspect)})"
  end

  private

  def __text(re, im)
    v = imaginary
    negative = v.is_a?(Float) ? (v < 0 || v == 0 && 1 / v < 0) : v < 0
    digit = im.getbyte(-1)
    star = digit >= 48 && digit <= 57 ? "" : "*"
    "#{re}#{negative ? "-" : "+"}#{im}#{star}i"
  end

  def __exact_real(name, target)
    if imaginary.is_a?(Float) || !(imaginary == 0)
      raise RangeError, "can't convert #{self} into #{target}"
    end
    real.__send__(name)
  end

  def __integer_power(n)
    if n < 0
      return (Complex.__send__(:__make, 1, 0) / self).__send__(:__integer_power, -n)
    end
    exact = __power_on_axis(n)
    return exact if exact
    z = nil
    x = self
    while n > 0
      if n.odd?
        z = z ? z * x : x
      end
      n >>= 1
      x *= x if n > 0
    end
    z
  end

  # The power of a number on an axis, or half way between two of them: its direction turns by eighths of a circle, which no rounding meets. nil for others.
  def __power_on_axis(n)
    re = real
    im = imaginary
    if im == 0
      x = re
      eighths = 0
    elsif re == 0
      x = im
      eighths = 2
    elsif re == im
      x = re
      eighths = 1
    elsif re == -im
      x = im
      eighths = 3
    else
      return nil
    end
    length = x ** n
    length *= 2 ** (n / 2) if eighths.odd?
    eighths = eighths * n % 8
    zero = x.is_a?(Float) ? 0.0 : x - x
    re = eighths == 2 || eighths == 6 ? zero : eighths > 2 && eighths < 6 ? -length : length
    im = eighths % 4 == 0 ? zero : eighths > 4 ? -length : length
    Complex.__send__(:__make, re, im)
  end

  def __divide(other)
    if other.is_a?(Complex)
      a = real
      b = imaginary
      c = other.real
      d = other.imaginary
      # Smith's way: no overflow in c*c + d*d.
      if c.abs > d.abs
        r = yield(d, c)
        n = c * (r * r + 1)
        re = yield(a + b * r, n)
        im = yield(b - a * r, n)
      else
        r = yield(c, d)
        n = d * (r * r + 1)
        re = yield(a * r + b, n)
        im = yield(b * r - a, n)
      end
      Complex.__send__(:__make, __canonical(re), __canonical(im))
    elsif other.is_a?(Numeric) && other.real?
      Complex.__send__(:__make, __canonical(yield(real, other)), __canonical(yield(imaginary, other)))
    else
      raise TypeError, "#{other.nil? ? "nil" : other.class} can't be coerced into Complex" unless other.respond_to?(:coerce)
      a, b = other.coerce(self)
      a / b
    end
  end

  # Exact quotients that are whole become Integers.
  def __canonical(v)
    v.is_a?(Rational) && v.denominator == 1 ? v.numerator : v
  end
end
