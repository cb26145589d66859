# digest: everything but the hashing itself.
module Digest
  VERSION = "3.2.1"

  def self.hexencode(text) = __text(text).unpack1("H*").force_encoding(Encoding::US_ASCII)

  private_class_method def self.__text(text)
    String.try_convert(text) || raise(TypeError, "no implicit conversion of #{text.nil? ? "nil" : text.class} into String")
  end

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
    def update(_) = raise(RuntimeError, "#{self.class.name} does not implement update()")
    alias << update
    def reset = raise(RuntimeError, "#{self.class.name} does not implement reset()")
    def block_length = raise(RuntimeError, "#{self.class.name} does not implement block_length()")
    def digest_length = digest.bytesize
    def length = digest_length
    alias size length
    def new = clone.reset

    private def finish = raise(RuntimeError, "#{self.class.name} does not implement finish()")

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

    def digest!
      value = finish
      reset
      value
    end

    def hexdigest(text = nil) = Digest.hexencode(digest(text))
    def hexdigest! = Digest.hexencode(digest!)
    def base64digest(text = nil) = [digest(text)].pack("m0")
    def base64digest! = [digest!].pack("m0")
    def bubblebabble = Digest.bubblebabble(digest)
    def to_s = hexdigest
    def inspect = "#<#{self.class}: #{hexdigest}>"

    def ==(other)
      return digest == other.digest if Instance === other
      text = String.try_convert(other)
      !text.nil? && text == to_s
    end

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

    def initialize = nil

    def self.digest(text, *args) = new(*args).digest(text)
    def self.hexdigest(*args) = Digest.hexencode(digest(*args))
    def self.base64digest(text, *args) = [digest(text, *args)].pack("m0")
    def self.bubblebabble(text, *args) = Digest.bubblebabble(digest(text, *args))
    def self.file(name, *args) = new(*args).file(name)
  end

  class Base < Class; end

  # SHA-2 of a length in bits.
  class SHA2 < Class
    def initialize(bitlen = 256)
      @sha2 = case bitlen
              when 256 then SHA256.new
              when 384 then SHA384.new
              when 512 then SHA512.new
              else raise ArgumentError, "unsupported bit length: %s" % bitlen.inspect
              end
      @bitlen = bitlen
    end

    def reset
      @sha2.reset
      self
    end

    def update(text)
      @sha2.update(text)
      self
    end
    alias << update

    private def finish = @sha2.digest!

    def block_length = @sha2.block_length
    def digest_length = @sha2.digest_length
    def initialize_copy(other) = @sha2 = other.instance_eval { @sha2.clone }
    def inspect = "#<%s:%d %s>" % [self.class, @bitlen, hexdigest]
  end
end

def Digest(name)
  const = name.to_sym
  Digest.const_get(const)
end
