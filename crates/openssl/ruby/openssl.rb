# OpenSSL: errors, digests, HMAC, key derivation, random bytes, ciphers.
require "digest"

module OpenSSL
  private_constant :Native

  VERSION = "4.0.0"
  OPENSSL_VERSION_NUMBER, OPENSSL_VERSION = Native.version
  OPENSSL_LIBRARY_VERSION = OPENSSL_VERSION
  OPENSSL_FIPS = false

  class OpenSSLError < StandardError
    # What OpenSSL's queue of errors held, in its own words.
    def errors = @errors || []

    # The message; if OpenSSL's queue held several errors, with all of them.
    def detailed_message(highlight: false, **)
      text = super
      return text if errors.size < 2
      "#{text}\nOpenSSL error queue reported #{errors.size} errors:#{errors.map { |line| "\n#{line}" }.join}"
    end
  end

  class << self
    # Errors are raised where they appear: none are left.
    def errors = []
    # False: there is no debug mode.
    def debug = false
    # Changes nothing.
    def debug=(on)
      on
    end
    # False: FIPS mode is not supported.
    def fips_mode = false
    # OpenSSLError for true: FIPS mode is not supported.
    def fips_mode=(on)
      raise OpenSSLError, "FIPS mode is not supported" if on
    end
    # Whether two texts of the same length are equal, in a time that does not tell where they differ; ArgumentError for different lengths.
    def fixed_length_secure_compare(a, b) = Native.same?(a, b)

    # Whether two texts are equal, in a time that does not tell where they differ.
    #
    #     OpenSSL.secure_compare("token", "tokem")   #=> false
    def secure_compare(a, b)
      one, other = [a, b].map { |s| String.try_convert(s) || raise(TypeError, "no implicit conversion of #{s.nil? ? "nil" : s.class} into String") }
      fixed_length_secure_compare(Digest.digest("SHA256", one), Digest.digest("SHA256", other)) && a == b
    end

    # The class of a digest by its name.
    def Digest(name) = Digest.const_get(name)

    # Nothing: memory is checked otherwise.
    def mem_check_start = nil
    # Nothing: memory is checked otherwise.
    def print_mem_leaks = nil
  end

  # Arguments, as the classes below take them.
  module Given
    module_function

    # One of a class that has a handle; `name` is what the gem calls it.
    def handle(value, type, name)
      value.is_a?(type) ? value.__handle : raise(TypeError, "wrong argument type #{value.nil? ? "nil" : value.class} (expected #{name})")
    end
    def cert(value) = handle(value, X509::Certificate, "OpenSSL/X509")
    def key(value) = handle(value, PKey::PKey, "OpenSSL/EVP_PKEY")
    # Who signs shows the private part first. Types that the gem has no class of can't tell: OpenSSL refuses theirs.
    def private_key(value)
      handle = key(value)
      raise ArgumentError, "private key is needed" unless value.instance_of?(PKey::PKey) || value.private?
      handle
    end
    # Certificates of an Array.
    def certs(list)
      list = Array.try_convert(list) || raise(TypeError, "wrong argument type #{list.nil? ? "nil" : list.class} (expected Array)")
      list.map { |one| one.is_a?(X509::Certificate) ? one.__handle : raise(OpenSSLError, "object in array not of class OpenSSL::X509::Certificate") }
    end
    # Bytes of DER, of what has it or of a text.
    def der(value) = string(value.respond_to?(:to_der) ? value.to_der : value)
    # Functions of a module can be called without it where it is included.
    def functions(of, *names)
      names.each do |name|
        of.define_method(name) { |*args, **options, &block| of.__send__(name, *args, **options, &block) }
        of.__send__(:private, name)
      end
    end

    def string(value)
      value = value.to_der if !value.is_a?(String) && value.respond_to?(:to_der)
      value = value.read if !value.is_a?(String) && value.respond_to?(:read)
      String.try_convert(value) || raise(TypeError, "no implicit conversion of #{value.nil? ? "nil" : value.class} into String")
    end

    # A digest's name, or nil.
    def digest(value)
      case value
      when nil then nil
      when Digest then value.name
      else String.try_convert(value) || raise(TypeError, "wrong argument type #{value.class} (expected OpenSSL/Digest)")
      end
    end

    def cipher(value)
      case value
      when nil then nil
      when Cipher then value.name
      else String.try_convert(value) || raise(TypeError, "wrong argument type #{value.class} (expected OpenSSL/Cipher)")
      end
    end

    def integer(value) = Integer.try_convert(value) || raise(TypeError, value.nil? ? "no implicit conversion from nil to integer" : "no implicit conversion of #{value.class} into Integer")
    def hex(number) = Integer(number.is_a?(BN) ? number.to_i : number).to_s(16)
    def bn(hex) = hex && BN.new(hex.to_i(16))
  end
  private_constant :Given

  class Digest < ::Digest::Class
    class DigestError < OpenSSLError; end

    class << self
      # The digest of a text by the digest's name, as bytes.
      #
      #     OpenSSL::Digest.digest("SHA256", "abc").bytesize   #=> 32
      def digest(name, data) = super(data, name)
      # The names of the digests that there are.
      def digests = Native.digests
    end

    # A digest by its name or of the kind of another one, with a first text; DigestError for unknown names.
    #
    #     OpenSSL::Digest.new("SHA256").update("abc").hexdigest[0, 8]   #=> "ba7816bf"
    def initialize(name, data = nil)
      name = name.name if name.is_a?(Digest)
      name = String.try_convert(name) || raise(TypeError, "wrong argument type #{name.class} (expected OpenSSL/Digest)")
      @__h = Native.md_new(name) || raise(DigestError, "Unsupported digest algorithm (#{name}).: unknown object name")
      @__name, @__digest_length, @__block_length = Native.md_info(@__h)
      update(data) if data
    end

    def initialize_copy(other)
      return self if equal?(other)
      @__h = Native.dup(other.__handle)
      @__name, @__digest_length, @__block_length = Native.md_info(@__h)
    end

    def __handle = @__h || raise(RuntimeError, "Digest CTX wasn't initialized!")
    # The name of the digest: "SHA256".
    def name = @__name
    # The bytes of a digest.
    def digest_length = @__digest_length
    # The bytes of a block.
    def block_length = @__block_length

    # Takes more text.
    def update(data)
      Native.md_update(@__h, data)
      self
    end
    alias << update

    # Begins anew.
    def reset
      Native.md_reset(@__h)
      self
    end

    private def finish = Native.md_final(@__h)

    %w[MD4 MD5 RIPEMD160 SHA1 SHA224 SHA256 SHA384 SHA512].each do |name|
      const_set(name, Class.new(self) do
        define_method(:initialize) { |data = nil| super(name, data) }
        define_singleton_method(:digest) { |data| new.digest(data) }
        define_singleton_method(:hexdigest) { |data| new.hexdigest(data) }
      end)
    end
  end

  class HMACError < OpenSSLError; end

  class HMAC
    class << self
      # The code of a text by a digest and a key, as bytes.
      def digest(digest, key, data) = new(key, digest).update(data).digest
      # The code of a text by a digest and a key, as hexadecimal digits.
      #
      #     OpenSSL::HMAC.hexdigest("SHA256", "key", "data")[0, 8]   #=> "5031fe3d"
      def hexdigest(digest, key, data) = new(key, digest).update(data).hexdigest
      # The code of a text by a digest and a key, in Base64.
      def base64digest(digest, key, data) = new(key, digest).update(data).base64digest
    end

    # A code without text, of a key and a digest or its name.
    def initialize(key, digest)
      @__h = Native.hmac_new(key, Given.digest(digest) || raise(TypeError, "wrong argument type nil (expected OpenSSL/Digest)"))
    end

    def __handle = @__h || raise(RuntimeError, "HMAC wasn't initialized!")
    def initialize_copy(other)
      @__h = Native.dup(other.__handle)
    end

    # Takes more text.
    def update(data)
      Native.hmac_update(@__h, data)
      self
    end
    alias << update

    # Begins anew with the same key.
    def reset
      Native.hmac_reset(@__h)
      self
    end

    # The code of the text so far, as bytes.
    def digest = Native.hmac_final(@__h)
    # The code of the text so far, as hexadecimal digits.
    def hexdigest = digest.unpack1("H*").force_encoding("US-ASCII")
    # The code of the text so far, in Base64.
    def base64digest = [digest].pack("m0")
    alias to_s hexdigest
    alias inspect hexdigest
    # Whether the other has the same code, in a time that does not tell where they differ.
    def ==(other) = other.is_a?(HMAC) && (mine = digest).bytesize == (its = other.digest).bytesize && OpenSSL.fixed_length_secure_compare(mine, its)
  end

  module KDF
    class KDFError < OpenSSLError; end

    # A key of `length` bytes from a password by PBKDF2; KDFError for fewer than one iteration.
    #
    #     OpenSSL::KDF.pbkdf2_hmac("secret", salt: "salt", iterations: 1000, length: 16, hash: "SHA256").bytesize   #=> 16
    def self.pbkdf2_hmac(password, salt:, iterations:, length:, hash:)
      iterations, length = Given.integer(iterations), Given.integer(length)
      raise KDFError, "PKCS5_PBKDF2_HMAC: invalid iteration count" if iterations < 1
      raise ArgumentError, "negative string size (or size too big)" if length < 0
      Native.pbkdf2(password, salt, iterations, length, Given.digest(hash) || raise(TypeError, "wrong argument type nil (expected OpenSSL/Digest)"))
    end

    # The names of its settings are those of RFC 7914, so they are no names of Ruby's parameters.
    def self.scrypt(password, **settings)
      names = %i[salt N r p length]
      missing, unknown = names - settings.keys, settings.keys - names
      raise ArgumentError, "missing keyword#{"s" if missing.size > 1}: #{missing.map(&:inspect).join(", ")}" unless missing.empty?
      raise ArgumentError, "unknown keyword#{"s" if unknown.size > 1}: #{unknown.map(&:inspect).join(", ")}" unless unknown.empty?
      salt = settings[:salt]
      n, r, p, length = settings.values_at(:N, :r, :p, :length).map { |i| Given.integer(i) }
      raise ArgumentError, "negative string size (or size too big)" if length < 0
      unless n > 1 && n & n - 1 == 0 && r > 0 && p > 0 && r * p < 1 << 30 && (16 * r > 63 || n < 1 << 16 * r)
        raise KDFError, "EVP_PBE_scrypt"
      end
      Native.scrypt(password, salt, n, r, p, length)
    end

    # A key of `length` bytes from another key by HKDF (RFC 5869); KDFError if it is longer than 255 digests.
    def self.hkdf(key, salt:, info:, length:, hash:)
      size = Digest.new(hash).digest_length
      raise KDFError, "EVP_PKEY_derive: invalid length" if length > 255 * size
      base = HMAC.digest(hash, salt.empty? ? "\0" * size : salt, key)
      block = out = "".b
      (1..).each do |i|
        break if out.bytesize >= length
        block = HMAC.digest(hash, base, block + info.b + [i].pack("C"))
        out += block
      end
      out.byteslice(0, length)
    end
  end

  module PKCS5
    module_function

    # A key of `length` bytes from a password by PBKDF2, with a digest or its name.
    def pbkdf2_hmac(password, salt, iterations, length, digest) = KDF.pbkdf2_hmac(password, salt:, iterations:, length:, hash: digest)
    # A key of `length` bytes from a password by PBKDF2 with SHA-1.
    def pbkdf2_hmac_sha1(password, salt, iterations, length) = pbkdf2_hmac(password, salt, iterations, length, "SHA1")
  end

  # The kernel seeds the generator: what programs add is taken and not needed.
  module Random
    class RandomError < OpenSSLError; end

    class << self
      # So many random bytes, good for keys.
      def random_bytes(n) = Native.random(n)
      alias bytes random_bytes
      alias pseudo_bytes random_bytes

      # Changes nothing, and answers the text.
      def seed(text) = text.to_str
      # Changes nothing: the system has seeded the generator.
      def random_add(text, _entropy)
        text.to_str
        self
      end
      # True: the system has seeded the generator.
      def status? = true
      # Reads a file, which changes nothing; RandomError if it can't be read.
      def load_random_file(path)
        File.binread(path, 1024)
        true
      rescue SystemCallError => e
        raise RandomError, "RAND_load_file: #{e.message}"
      end
      # Writes 1,024 random bytes to a file; RandomError if that fails.
      def write_random_file(path)
        File.binwrite(path, random_bytes(1024))
        true
      rescue SystemCallError => e
        raise RandomError, "RAND_write_file: #{e.message}"
      end
    end
  end

  class Cipher
    class CipherError < OpenSSLError; end
    class AuthTagError < CipherError; end

    # The names of the ciphers that there are.
    def self.ciphers = Native.ciphers

    # A cipher by its name: "aes-256-gcm". Next comes `encrypt` or `decrypt`, then the key.
    #
    #     cipher = OpenSSL::Cipher.new("aes-128-cbc").encrypt
    #     cipher.key, cipher.iv = "k" * 16, "i" * 16
    #     (cipher.update("secret") + cipher.final).bytesize   #=> 16
    def initialize(name)
      raise TypeError, "already initialized" if @__h
      @__h = Native.cipher_new(name.to_str)
      info
    end

    def __handle = @__h || raise(RuntimeError, "Cipher not initialized!")
    def initialize_copy(other)
      return self if equal?(other)
      @__h = Native.dup(other.__handle)
      @__direction, @__keyed, @__aead_iv_len, @__tag_len = other.__state
      info
    end
    def __state = [@__direction, @__keyed, @__aead_iv_len, @__tag_len]

    private def info
      @__name, @__key_len, @__iv_len, @__block_size, @__flags = Native.cipher_info(@__h)
      @__mode = @__flags & 0xf0007
    end

    # The name of the cipher: "AES-128-CBC".
    def name = @__name
    # The bytes of the key.
    def key_len = @__key_len
    # The bytes of a block; 1 for ciphers that work byte by byte.
    def block_size = @__block_size
    # The bytes of the initialization vector; 0 if the cipher has none.
    def iv_len = @__aead_iv_len || @__iv_len

    # EVP_CIPH_FLAG_AEAD_CIPHER
    # Whether the cipher makes a tag that shows changes, as GCM and CCM do.
    def authenticated? = @__flags & 0x200000 != 0
    private def ccm? = @__mode == 7

    # Lets the cipher encrypt; a key that was set before is forgotten. A password as argument is deprecated.
    def encrypt(password = nil, iv = nil) = begin_with(1, password, iv)
    # Lets the cipher decrypt; a key that was set before is forgotten. A password as argument is deprecated.
    def decrypt(password = nil, iv = nil) = begin_with(0, password, iv)

    # Whether there is a key for the direction: one that was set before the direction is forgotten.
    private def begin_with(direction, password, iv)
      raise RuntimeError, "Cipher not initialized!" unless @__h
      @__direction, @__keyed = direction, false
      Native.cipher_init(@__h, nil, nil, direction)
      if password
        warn "arguments for #{self.class}##{direction == 1 ? "encrypt" : "decrypt"} was deprecated; use #{self.class}#pkcs5_keyivgen for password-based keys" if $VERBOSE
        pkcs5_keyivgen(password, iv)
      end
      self
    end

    # Begins anew with the same key and vector.
    def reset
      Native.cipher_init(@__h, nil, nil, -1)
      self
    end

    # Sets the bytes of the key, for ciphers whose keys differ in length.
    def key_len=(n)
      Native.cipher_set(@__h, :key_len, n)
      info
      n
    end

    # Sets the bytes of the initialization vector; CipherError if the cipher is not authenticated.
    def iv_len=(n)
      raise CipherError, "cipher does not support AEAD" unless authenticated?
      Native.cipher_set(@__h, :iv_len, n)
      @__aead_iv_len = n
    end

    # Sets the key; ArgumentError if it has another length than `key_len`.
    def key=(key)
      raise ArgumentError, "key must be #{key_len} bytes" if key.to_str.bytesize != key_len
      Native.cipher_init(@__h, key, nil, -1)
      @__keyed = true
    end

    # Sets the initialization vector; ArgumentError if it has another length than `iv_len`.
    def iv=(iv)
      raise ArgumentError, "iv must be #{iv_len} bytes" if iv.to_str.bytesize != iv_len
      Native.cipher_init(@__h, nil, iv, -1)
    end

    # Sets a random key, and answers it.
    def random_key = self.key = Random.random_bytes(key_len)
    # Sets a random initialization vector, and answers it.
    def random_iv = self.iv = Random.random_bytes(iv_len)

    # Sets whether the last block is filled up: 1 or 0.
    def padding=(n)
      Native.cipher_set(@__h, :padding, n)
      n
    end

    # Sets key and vector from a password, as older versions of PKCS #5 have it: for old data alone, else `OpenSSL::KDF`. ArgumentError if the salt has not 8 bytes.
    def pkcs5_keyivgen(password, salt = nil, iterations = 2048, digest = "MD5")
      raise ArgumentError, "salt must be an 8-octet string" if salt && salt.to_str.bytesize != 8
      raise ArgumentError, "iterations must be a positive integer" unless iterations.to_int > 0
      Native.cipher_keyivgen(@__h, password, salt, iterations, Given.digest(digest))
      @__keyed = true
      nil
    end

    # Adds data that is not encrypted, but whose changes show.
    def auth_data=(data)
      data = data.to_str
      Native.cipher_auth_data(@__h, data)
      data
    end

    # Sets the bytes of the tag; CipherError if the cipher is not authenticated.
    def auth_tag_len=(n)
      raise CipherError, "authentication tag not supported by this cipher" unless authenticated?
      Native.cipher_set(@__h, :tag_len, n)
      @__tag_len = n
    end

    # Sets the tag that decrypted data has to have; CipherError if the cipher is not authenticated.
    def auth_tag=(tag)
      tag = tag.to_str
      raise CipherError, "authentication tag not supported by this cipher" unless authenticated?
      Native.cipher_set_tag(@__h, tag)
      tag
    end

    # The tag of what was encrypted, of `length` bytes (16); CipherError if the cipher is not authenticated.
    def auth_tag(length = @__tag_len || 16)
      raise CipherError, "authentication tag not supported by this cipher" unless authenticated?
      Native.cipher_tag(@__h, length)
    end

    # Tells CCM the bytes of the data before it comes.
    def ccm_data_len=(n)
      Native.cipher_data_len(@__h, n)
      n
    end

    # Encrypts or decrypts a part, and answers what is ready; CipherError without a key.
    def update(data, buffer = nil)
      raise CipherError, "key not set" unless @__keyed
      data = data.to_str
      result = Native.cipher_update(@__h, data)
      buffer ? buffer.replace(result) : result
    end

    # The rest of the data; CipherError if the last block or the tag is wrong, AuthTagError for the tag.
    def final
      raise RuntimeError, "Cipher not initialized!" unless @__h
      raise CipherError, "no key set" unless @__keyed
      # CCM has told the tag from the text already.
      return "".b if ccm?
      Native.cipher_final(@__h, @__direction == 0 && authenticated?)
    end

    %w[AES CAST5 BF DES IDEA RC2 RC4 RC5].each do |name|
      const_set(name, Class.new(self) { define_method(:initialize) { |*parts| super([name, *parts].join("-").downcase) } })
    end
    %w[128 192 256].each do |size|
      const_set("AES#{size}", Class.new(self) { define_method(:initialize) { |mode = "CBC"| super("aes-#{size}-#{mode}".downcase) } })
    end
  end

  # What Marshal needs of a class with `to_der`.
  module Marshal
    module ClassMethods
      # The object that Marshal wrote in DER.
      def _load(der) = new(der)
    end
    # A class that includes this can be loaded by Marshal.
    def self.included(base) = base.extend(ClassMethods)
    # What Marshal writes: DER.
    def _dump(_level) = to_der
  end

  Given.functions(self, :Digest, :debug, :debug=, :errors, :fips_mode, :fips_mode=, :fixed_length_secure_compare)
  Given.functions(KDF, :pbkdf2_hmac, :scrypt, :hkdf)
  Given.functions(Random, :random_bytes, :pseudo_bytes, :seed, :random_add, :status?, :load_random_file, :write_random_file)
end
