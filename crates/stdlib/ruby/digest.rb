# digest: everything but the hashing itself.
module Digest
  VERSION = "3.2.1"

  # Bytes as hexadecimal digits.
  def self.hexencode(text) = __text(text).unpack1("H*").force_encoding(Encoding::US_ASCII)

  private_class_method def self.__text(text)
    String.try_convert(text) || raise(TypeError, "no implicit conversion of #{text.nil? ? "nil" : text.class} into String")
  end

  # Held while a file may be defining what it is named after.
  REQUIRE_MUTEX = Thread::Mutex.new

  # Hashes of other libraries: `Digest::Foo` is looked for in digest/foo.
  def self.const_missing(name)
    file = "digest/#{name.to_s.downcase}"
    begin
      require file
    rescue LoadError
      raise LoadError, "library not found for class Digest::#{name} -- #{file}"
    end
    raise NameError, "uninitialized constant Digest::#{name}" unless const_defined?(name, false)
    const_get(name, false)
  end

  # Words that can be spoken: five letters for two bytes, with a running checksum.
  def self.bubblebabble(text)
    bytes = __text(text).bytes
    vowels, consonants = "aeiouy", "bcdfghklmnprstvzx"
    sum = 1
    out = +"x"
    (0..bytes.size / 2).each do |i|
      a, b = bytes[2 * i], bytes[2 * i + 1]
      if a
        out << vowels[((a >> 6 & 3) + sum) % 6] << consonants[a >> 2 & 15] << vowels[((a & 3) + sum / 6) % 6]
      else
        out << vowels[sum % 6] << consonants[16] << vowels[sum / 6]
      end
      if b
        out << consonants[b >> 4 & 15] << "-" << consonants[b & 15]
        sum = (sum * 5 + a * 7 + b) % 36
      end
      break unless b
    end
    out << "x"
  end

  # What every hash can do that has update, finish and reset.
  module Instance
    # Takes more text; each hash has its own.
    def update(_) = raise(RuntimeError, "#{self.class.name} does not implement update()")
    alias << update
    # Begins anew; each hash has its own.
    def reset = raise(RuntimeError, "#{self.class.name} does not implement reset()")
    # The bytes of a block; each hash has its own.
    def block_length = raise(RuntimeError, "#{self.class.name} does not implement block_length()")
    # The bytes of a digest.
    def digest_length = digest.bytesize
    # The bytes of a digest.
    def length = digest_length
    alias size length
    # A hash of the same kind without text.
    def new = clone.reset

    private def finish = raise(RuntimeError, "#{self.class.name} does not implement finish()")

    # The digest of the text so far, as bytes; of a text that is given alone, after which the hash begins anew.
    def digest(text = nil)
      if text
        reset
        update(text)
        value = finish
        reset
        value
      else
        dup.__send__(:finish)
      end
    end

    # The digest of the text so far, as bytes, and begins anew.
    def digest!
      value = finish
      reset
      value
    end

    # The digest as hexadecimal digits.
    def hexdigest(text = nil) = Digest.hexencode(digest(text))
    # The digest as hexadecimal digits, and begins anew.
    def hexdigest! = Digest.hexencode(digest!)
    # The digest in Base64.
    def base64digest(text = nil) = [digest(text)].pack("m0")
    # The digest in Base64, and begins anew.
    def base64digest! = [digest!].pack("m0")
    # The digest as words that can be spoken.
    def bubblebabble = Digest.bubblebabble(digest)
    # The digest as hexadecimal digits.
    def to_s = hexdigest
    # The class and the digest.
    def inspect = "#<#{self.class}: #{hexdigest}>"

    # Whether the other has the same digest, or is its hexadecimal text.
    def ==(other)
      return digest == other.digest if Instance === other
      text = String.try_convert(other)
      !text.nil? && text == to_s
    end

    # Takes the content of a file.
    def file(name)
      File.open(name, "rb") do |f|
        buffer = +""
        update(buffer) while f.read(16384, buffer)
      end
      self
    end
  end

  class Class
    include Instance

    # A hash without text.
    def initialize = nil

    # The digest of a text, as bytes.
    def self.digest(text, *args) = new(*args).digest(text)
    # The digest of a text, as hexadecimal digits.
    #
    #     Digest::MD5.hexdigest("abc")   #=> "900150983cd24fb0d6963f7d28e17f72"
    def self.hexdigest(*args) = Digest.hexencode(digest(*args))
    # The digest of a text, in Base64.
    def self.base64digest(text, *args) = [digest(text, *args)].pack("m0")
    # The digest of a text, as words that can be spoken.
    def self.bubblebabble(text, *args) = Digest.bubblebabble(digest(text, *args))
    # A hash that has taken the content of a file.
    #
    #     Digest::SHA256.file(File::NULL).hexdigest[0, 8]   #=> "e3b0c442"
    def self.file(name, *args) = new(*args).file(name)
  end

  class Base < Class
    class << self
      # Made of classes below it alone.
      def new(...) = equal?(Base) ? raise(NotImplementedError, "#{self} is an abstract class") : super
      def allocate = equal?(Base) ? raise(NotImplementedError, "#{self} is an abstract class") : super # :nodoc:
    end
  end

  # SHA-2 of a length in bits.
  class SHA2 < Class
    # SHA-2 of 256, 384 or 512 bits; ArgumentError for other lengths.
    def initialize(bitlen = 256)
      @sha2 = case bitlen
              when 256 then SHA256.new
              when 384 then SHA384.new
              when 512 then SHA512.new
              else raise ArgumentError, "unsupported bit length: %s" % bitlen.inspect
              end
      @bitlen = bitlen
    end

    # Begins anew.
    def reset
      @sha2.reset
      self
    end

    # Takes more text.
    def update(text)
      @sha2.update(text)
      self
    end
    alias << update

    private def finish = @sha2.digest!

    # The bytes of a block.
    def block_length = @sha2.block_length
    # The bytes of a digest.
    def digest_length = @sha2.digest_length
    def initialize_copy(other) = @sha2 = other.instance_eval { @sha2.clone }
    # The class, the bits and the digest.
    def inspect = "#<%s:%d %s>" % [self.class, @bitlen, hexdigest]
  end
end

# The class of a hash by its name: `Digest(:MD5)` is Digest::MD5.
def Digest(name)
  const = name.to_sym
  Digest::REQUIRE_MUTEX.synchronize { Digest.const_get(const) }
end
