# OpenSSL::BN: numbers are Integers; primes are OpenSSL's.
module OpenSSL
  class BNError < OpenSSLError; end

  class BN
    include Comparable

    def self.__integer(value)
      case value
      when BN then value.to_i
      when Integer then value
      else
        raise TypeError, "Cannot convert into OpenSSL::BN" unless value.respond_to?(:to_bn)
        value.to_bn.to_i
      end
    end
    private_class_method :__integer

    class << self
      # A random number of so many bits. `top`: -1 any, 0 the highest bit is set, 1 the highest two are; `bottom`: odd.
      def rand(bits, top = 0, bottom = false) = new(__random(bits, top, bottom))
      alias pseudo_rand rand

      private def __random(bits, top, bottom)
        raise BNError, "BN_rand: bits too small" if bits < 0 || bits == 1 && top > 0 || bits == 0 && (top >= 0 || bottom)
        n = Random.random_bytes((bits + 7) / 8).unpack1("H*").to_i(16) & (1 << bits) - 1
        n |= 1 << bits - 1 if top >= 0
        n |= 1 << bits - 2 if top > 0
        bottom ? n | 1 : n
      end

      # A random number from 0 to below the limit.
      def rand_range(limit)
        limit = __integer(limit)
        raise BNError, "BN_rand_range: invalid range" if limit <= 0
        while true
          n = __random(limit.bit_length, -1, false)
          return new(n) if n < limit
        end
      end
      alias pseudo_rand_range rand_range

      # A random prime of so many bits; `safe`: half of it, rounded down, is a prime, too; `add` and `rem`: it leaves the rest `rem` when divided by `add`.
      def generate_prime(bits, safe = true, add = nil, rem = nil)
        hex = Native.prime(Integer(bits), safe ? true : false, add && __integer(add).to_s(16), rem && __integer(rem).to_s(16))
        new(hex.to_i(16))
      end
    end

    # The number of an Integer, or of a text in base 10, 16, 2 (bytes) or 0 (bytes with their length before them).
    #
    #     OpenSSL::BN.new("ff", 16).to_i   #=> 255
    def initialize(value, base = 10)
      @__n =
        case value
        when Integer then value
        when BN then value.to_i
        when nil then raise ArgumentError, "invalid argument"
        else
          text = String.try_convert(value) || raise(TypeError, "Cannot convert into OpenSSL::BN")
          case base
          when 10 then digits(text, /\A-?\d+/, 10)
          when 16 then digits(text, /\A-?\h+/, 16)
          when 2 then text.unpack1("H*").to_i(16)
          when 0
            size = text.byteslice(0, 4).unpack1("N")
            raise BNError, "BN_mpi2bn: encoding error" if !size || size != text.bytesize - 4
            n = text.byteslice(4..).unpack1("H*").to_i(16)
            size > 0 && n[size * 8 - 1] == 1 ? -(n & (1 << size * 8 - 1) - 1) : n
          else raise ArgumentError, "invalid radix #{base}"
          end
        end
    end

    private def digits(text, pattern, base)
      text[pattern]&.to_i(base) || raise(BNError, "BN_#{base == 10 ? "dec" : "hex"}2bn")
    end

    def initialize_copy(other)
      @__n = other.to_i
    end

    # Takes the value of another number.
    def copy(other)
      @__n = integer(other)
      self
    end

    private def integer(value) = BN.__send__(:__integer, value)
    private def bn(n) = BN.new(n)

    # The number as Integer.
    def to_i = @__n
    alias to_int to_i
    # The number itself.
    def to_bn = self
    # The same for equal numbers.
    def hash = @__n.abs.hash

    # The number as text in base 10 or 16, or as bytes: 2 without sign, 0 with their length before them.
    def to_s(base = 10)
      case base
      when 10 then @__n.to_s
      when 16
        hex = @__n.abs.to_s(16).upcase
        "#{"-" if @__n < 0}#{"0" if hex.size.odd?}#{hex}".then { |s| s == "00" ? "0" : s }
      when 2 then bytes
      when 0
        body = bytes
        body = "\0".b + body if body.getbyte(0).to_i >= 0x80
        body.setbyte(0, body.getbyte(0) | 0x80) if @__n < 0
        [body.bytesize].pack("N") + body
      else raise ArgumentError, "invalid radix #{base}"
      end
    end

    private def bytes
      return "".b if @__n == 0
      hex = @__n.abs.to_s(16)
      [hex.size.odd? ? "0#{hex}" : hex].pack("H*")
    end

    # The class and the number.
    def inspect = "#<OpenSSL::BN #{@__n}>"
    # What `pp` prints.
    def pretty_print(q) = q.object_group(self) { q.text " #{@__n}" }

    # The other as it is, and the number as Integer or text; TypeError for other objects.
    def coerce(other)
      case other
      when Integer then [other, @__n]
      when String then [other, to_s]
      else raise TypeError, "Don't know how to coerce"
      end
    end

    # The sum.
    def +(other) = bn(@__n + integer(other))
    # The difference.
    def -(other) = bn(@__n - integer(other))
    # The product.
    def *(other) = bn(@__n * integer(other))
    # The power; BNError for negative exponents.
    def **(other)
      e = integer(other)
      raise BNError, "BN_exp" if e < 0
      bn(@__n ** e)
    end
    # `[quotient, rest]`, the quotient cut off; BNError for 0.
    #
    #     (OpenSSL::BN.new(7) / 2).map(&:to_i)   #=> [3, 1]
    def /(other)
      d = integer(other)
      raise BNError, "BN_div: div by zero" if d == 0
      q = @__n.abs / d.abs
      q = -q if (@__n < 0) != (d < 0)
      [bn(q), bn(@__n - q * d)]
    end
    # The sign of the dividend.
    def %(other)
      d = integer(other)
      raise BNError, "BN_mod: div by zero" if d == 0
      bn(@__n.remainder(d))
    end
    # A copy of the number.
    def +@ = bn(@__n)
    # The number with the other sign.
    def -@ = bn(-@__n)
    # The number without sign.
    def abs = bn(@__n.abs)
    # Whether it is below 0.
    def negative? = @__n < 0
    # The square.
    def sqr = bn(@__n * @__n)

    # The sum modulo `m`.
    def mod_add(other, m) = modulo(@__n + integer(other), m)
    # The difference modulo `m`.
    def mod_sub(other, m) = modulo(@__n - integer(other), m)
    # The product modulo `m`.
    def mod_mul(other, m) = modulo(@__n * integer(other), m)
    # The square modulo `m`.
    def mod_sqr(m) = modulo(@__n * @__n, m)
    # The power modulo `m`; BNError for negative exponents.
    #
    #     OpenSSL::BN.new(3).mod_exp(5, 7).to_i   #=> 5
    def mod_exp(e, m)
      constant_time = [self, e, m].any? { |n| n.is_a?(BN) && n.get_flags(CONSTTIME) != 0 }
      e, m = integer(e), integer(m)
      raise BNError, "BN_mod_exp: called with even modulus" if constant_time && m.even?
      raise BNError, "BN_mod_exp" if e < 0 || m == 0
      bn(power(@__n, e, m.abs, constant_time))
    end
    # OpenSSL has the faster arithmetic, and one whose time tells nothing; but nothing stops it on the way.
    private def power(n, e, m, constant_time = false)
      return n.pow(e, m) if m.bit_length > NATIVE_BITS || e.bit_length > NATIVE_BITS || m.bit_length < 64 && !constant_time
      Native.mod_exp((n % m).to_s(16), e.to_s(16), m.to_s(16), constant_time).to_i(16)
    end
    private def modulo(n, m)
      m = integer(m)
      raise BNError, "BN_mod: div by zero" if m == 0
      bn(n % m.abs)
    end

    # The greatest common divisor.
    def gcd(other) = bn(@__n.gcd(integer(other)))
    # The number whose product with this one is 1 modulo `m`; BNError if there is none.
    def mod_inverse(m)
      m = integer(m)
      raise BNError, "BN_mod_inverse: no inverse" if m == 0
      a, b, x, y = @__n % m.abs, m.abs, 1, 0
      while b != 0
        q = a / b
        a, b, x, y = b, a - q * b, y, x - q * y
      end
      raise BNError, "BN_mod_inverse: no inverse" if a != 1
      bn(x % m.abs)
    end
    # Square root modulo a prime (Tonelli and Shanks).
    def mod_sqrt(p)
      p = integer(p)
      raise BNError, "BN_mod_sqrt: p is not prime" unless p == 2 || p > 2 && p.odd? && bn(p).prime?
      a = @__n % p
      return bn(a) if a == 0 || p == 2
      raise BNError, "BN_mod_sqrt: not a square" if power(a, p - 1 >> 1, p) != 1
      q, s = p - 1, 0
      q, s = q >> 1, s + 1 while q.even?
      z = (2..).find { |i| power(i, p - 1 >> 1, p) == p - 1 }
      m, c, t, r = s, power(z, q, p), power(a, q, p), power(a, q + 1 >> 1, p)
      until t == 1
        i, square = 0, t
        square, i = square * square % p, i + 1 until square == 1
        b = c.pow(1 << m - i - 1, p)
        m, c, r = i, b * b % p, r * b % p
        t = t * c % p
      end
      bn([r, p - r].min)
    end

    # Times two to the power of `bits`.
    def <<(bits) = shift(bits)
    # Divided by two to the power of `bits`, cut off.
    def >>(bits) = shift(-bits)
    # Shifts the number itself to the left.
    def lshift!(bits) = replace(shift(bits).to_i)
    # Shifts the number itself to the right.
    def rshift!(bits) = replace(shift(-bits).to_i)
    private def shift(bits)
      n = bits < 0 ? @__n.abs >> -bits : @__n.abs << bits
      bn(@__n < 0 ? -n : n)
    end
    private def replace(n)
      @__n = n
      self
    end

    private def with_bits
      n = yield @__n.abs
      replace(@__n < 0 ? -n : n)
    end
    # Sets a bit of the number itself; BNError for negative places.
    def set_bit!(bit)
      raise BNError, "BN_set_bit" if bit < 0
      with_bits { |n| n | 1 << bit }
    end
    # Clears a bit of the number itself; BNError if it has not as many.
    def clear_bit!(bit)
      raise BNError, "BN_clear_bit" if bit < 0 || bit >= @__n.abs.bit_length
      with_bits { |n| n & ~(1 << bit) }
    end
    # Keeps the lowest bits of the number itself.
    def mask_bits!(bit)
      raise BNError, "BN_mask_bits" if bit < 0 || bit >= (@__n.abs.bit_length + 63) / 64 * 64
      with_bits { |n| n & (1 << bit) - 1 }
    end
    # Whether the bit is set.
    def bit_set?(bit) = bit >= 0 && @__n.abs[bit] == 1

    # The number of bits.
    def num_bits = @__n.abs.bit_length
    # The number of bytes.
    def num_bytes = (num_bits + 7) / 8
    # Whether it is 0.
    def zero? = @__n == 0
    # Whether it is 1.
    def one? = @__n == 1
    # Whether it is odd.
    def odd? = @__n.odd?
    # Whether it is even.
    def even? = @__n.even?

    # Compares with an Integer or another number: -1, 0, 1; nil for other objects.
    def <=>(other)
      case other
      when Integer, BN then @__n <=> other.to_i
      end
    end
    # Compares with a number: -1, 0, 1; TypeError for other objects.
    def cmp(other) = @__n <=> integer(other)
    # Compares without signs: -1, 0, 1; TypeError for other objects.
    def ucmp(other) = @__n.abs <=> integer(other).abs
    # Whether the other is an Integer or a BN of the same value.
    def ==(other) = other.is_a?(BN) || other.is_a?(Integer) ? @__n == other.to_i : false
    alias === ==
    # Whether the other is a BN of the same value.
    def eql?(other) = other.is_a?(BN) && @__n == other.to_i

    # Whether it is a prime, with an error of next to nothing; the argument changes nothing.
    def prime?(_checks = nil)
      return false if @__n < 2
      Native.prime?(@__n.to_s(16))
    end
    # Whether it is a prime; the arguments change nothing.
    def prime_fasttest?(_checks = nil, _division = true) = prime?

    CONSTTIME = 4
    # Some ten milliseconds.
    NATIVE_BITS = 4096
    private_constant :NATIVE_BITS
    # Those of the flags that are set.
    def get_flags(flags) = (@__flags || 0) & flags
    # Sets flags: with CONSTTIME `mod_exp` refuses even moduli.
    def set_flags(flags)
      @__flags = (@__flags || 0) | flags
      nil
    end
  end
end

class Integer
  # The number as OpenSSL::BN.
  def to_bn = OpenSSL::BN.new(self)
end
