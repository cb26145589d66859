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
      def rand(bits, top = 0, bottom = false) = new(__random(bits, top, bottom))
      alias pseudo_rand rand

      private def __random(bits, top, bottom)
        raise BNError, "BN_rand: bits too small" if bits < 0 || bits == 1 && top > 0 || bits == 0 && (top >= 0 || bottom)
        n = Random.random_bytes((bits + 7) / 8).unpack1("H*").to_i(16) & (1 << bits) - 1
        n |= 1 << bits - 1 if top >= 0
        n |= 1 << bits - 2 if top > 0
        bottom ? n | 1 : n
      end

      def rand_range(limit)
        limit = __integer(limit)
        raise BNError, "BN_rand_range: invalid range" if limit <= 0
        loop do
          n = __random(limit.bit_length, -1, false)
          return new(n) if n < limit
        end
      end
      alias pseudo_rand_range rand_range

      def generate_prime(bits, safe = true, add = nil, rem = nil)
        hex = Native.prime(Integer(bits), safe ? true : false, add && __integer(add).to_s(16), rem && __integer(rem).to_s(16))
        new(hex.to_i(16))
      end
    end

    def initialize(value, base = 10)
      @n =
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
      @n = other.to_i
    end

    def copy(other)
      @n = integer(other)
      self
    end

    private def integer(value) = BN.__send__(:__integer, value)
    private def bn(n) = BN.new(n)

    def to_i = @n
    alias to_int to_i
    def to_bn = self
    def hash = @n.abs.hash

    def to_s(base = 10)
      case base
      when 10 then @n.to_s
      when 16
        hex = @n.abs.to_s(16).upcase
        "#{"-" if @n < 0}#{"0" if hex.size.odd?}#{hex}".then { |s| s == "00" ? "0" : s }
      when 2 then bytes
      when 0
        body = bytes
        body = "\0".b + body if body.getbyte(0).to_i >= 0x80
        body.setbyte(0, body.getbyte(0) | 0x80) if @n < 0
        [body.bytesize].pack("N") + body
      else raise ArgumentError, "invalid radix #{base}"
      end
    end

    private def bytes
      return "".b if @n == 0
      hex = @n.abs.to_s(16)
      [hex.size.odd? ? "0#{hex}" : hex].pack("H*")
    end

    def inspect = "#<OpenSSL::BN #{@n}>"
    def pretty_print(q) = q.object_group(self) { q.text " #{@n}" }

    def coerce(other)
      case other
      when Integer then [other, @n]
      when String then [other, to_s]
      else raise TypeError, "Don't know how to coerce"
      end
    end

    def +(other) = bn(@n + integer(other))
    def -(other) = bn(@n - integer(other))
    def *(other) = bn(@n * integer(other))
    def **(other)
      e = integer(other)
      raise BNError, "BN_exp" if e < 0
      bn(@n ** e)
    end
    def /(other)
      d = integer(other)
      raise BNError, "BN_div: div by zero" if d == 0
      q = @n.abs / d.abs
      q = -q if (@n < 0) != (d < 0)
      [bn(q), bn(@n - q * d)]
    end
    # The sign of the dividend.
    def %(other)
      d = integer(other)
      raise BNError, "BN_mod: div by zero" if d == 0
      bn(@n.remainder(d))
    end
    def +@ = bn(@n)
    def -@ = bn(-@n)
    def abs = bn(@n.abs)
    def negative? = @n < 0
    def sqr = bn(@n * @n)

    def mod_add(other, m) = modulo(@n + integer(other), m)
    def mod_sub(other, m) = modulo(@n - integer(other), m)
    def mod_mul(other, m) = modulo(@n * integer(other), m)
    def mod_sqr(m) = modulo(@n * @n, m)
    def mod_exp(e, m)
      constant_time = [self, e, m].any? { |n| n.is_a?(BN) && n.get_flags(CONSTTIME) != 0 }
      e, m = integer(e), integer(m)
      raise BNError, "BN_mod_exp: called with even modulus" if constant_time && m.even?
      raise BNError, "BN_mod_exp" if e < 0 || m == 0
      bn(@n.pow(e, m.abs))
    end
    private def modulo(n, m)
      m = integer(m)
      raise BNError, "BN_mod: div by zero" if m == 0
      bn(n % m.abs)
    end

    def gcd(other) = bn(@n.gcd(integer(other)))
    def mod_inverse(m)
      m = integer(m)
      raise BNError, "BN_mod_inverse: no inverse" if m == 0
      a, b, x, y = @n % m.abs, m.abs, 1, 0
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
      a = @n % p
      return bn(a) if a == 0 || p == 2
      raise BNError, "BN_mod_sqrt: not a square" if a.pow(p - 1 >> 1, p) != 1
      q, s = p - 1, 0
      q, s = q >> 1, s + 1 while q.even?
      z = (2..).find { |i| i.pow(p - 1 >> 1, p) == p - 1 }
      m, c, t, r = s, z.pow(q, p), a.pow(q, p), a.pow(q + 1 >> 1, p)
      until t == 1
        i, square = 0, t
        square, i = square * square % p, i + 1 until square == 1
        b = c.pow(1 << m - i - 1, p)
        m, c, r = i, b * b % p, r * b % p
        t = t * c % p
      end
      bn([r, p - r].min)
    end

    def <<(bits) = shift(bits)
    def >>(bits) = shift(-bits)
    def lshift!(bits) = replace(shift(bits).to_i)
    def rshift!(bits) = replace(shift(-bits).to_i)
    private def shift(bits)
      n = bits < 0 ? @n.abs >> -bits : @n.abs << bits
      bn(@n < 0 ? -n : n)
    end
    private def replace(n)
      @n = n
      self
    end

    private def with_bits
      n = yield @n.abs
      replace(@n < 0 ? -n : n)
    end
    def set_bit!(bit)
      raise BNError, "BN_set_bit" if bit < 0
      with_bits { |n| n | 1 << bit }
    end
    def clear_bit!(bit)
      raise BNError, "BN_clear_bit" if bit < 0 || bit >= @n.abs.bit_length
      with_bits { |n| n & ~(1 << bit) }
    end
    def mask_bits!(bit)
      raise BNError, "BN_mask_bits" if bit < 0 || bit >= (@n.abs.bit_length + 63) / 64 * 64
      with_bits { |n| n & (1 << bit) - 1 }
    end
    def bit_set?(bit) = bit >= 0 && @n.abs[bit] == 1

    def num_bits = @n.abs.bit_length
    def num_bytes = (num_bits + 7) / 8
    def zero? = @n == 0
    def one? = @n == 1
    def odd? = @n.odd?
    def even? = @n.even?

    def <=>(other)
      case other
      when Integer, BN then @n <=> other.to_i
      end
    end
    def cmp(other) = @n <=> integer(other)
    def ucmp(other) = @n.abs <=> integer(other).abs
    def ==(other) = other.is_a?(BN) || other.is_a?(Integer) ? @n == other.to_i : false
    alias === ==
    def eql?(other) = other.is_a?(BN) && @n == other.to_i

    def prime?(_checks = nil)
      return false if @n < 2
      Native.prime?(@n.to_s(16))
    end
    def prime_fasttest?(_checks = nil, _division = true) = prime?

    CONSTTIME = 4
    def get_flags(flags) = (@flags || 0) & flags
    def set_flags(flags)
      @flags = (@flags || 0) | flags
      nil
    end
  end
end

class Integer
  def to_bn = OpenSSL::BN.new(self)
end
