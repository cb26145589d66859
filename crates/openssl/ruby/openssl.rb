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

    def detailed_message(highlight: false, **)
      text = super
      return text if errors.size < 2
      "#{text}\nOpenSSL error queue reported #{errors.size} errors:#{errors.map { |line| "\n#{line}" }.join}"
    end
  end

  class << self
    # Errors are raised where they appear: none are left.
    def errors = []
    def debug = false
    def debug=(on)
      on
    end
    def fips_mode = false
    def fips_mode=(on)
      raise OpenSSLError, "FIPS mode is not supported" if on
    end
    def fixed_length_secure_compare(a, b) = Native.same?(a, b)

    def secure_compare(a, b)
      one, other = [a, b].map { |s| String.try_convert(s) || raise(TypeError, "no implicit conversion of #{s.nil? ? "nil" : s.class} into String") }
      fixed_length_secure_compare(Digest.digest("SHA256", one), Digest.digest("SHA256", other)) && a == b
    end

    def Digest(name) = Digest.const_get(name)

    def mem_check_start = nil
    def print_mem_leaks = nil
  end

  # Arguments, as the classes below take them.
  module Given
    module_function

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
      def digest(name, data) = super(data, name)
      def digests = Native.digests
    end

    def initialize(name, data = nil)
      name = name.name if name.is_a?(Digest)
      name = String.try_convert(name) || raise(TypeError, "wrong argument type #{name.class} (expected OpenSSL/Digest)")
      @h = Native.md_new(name) || raise(DigestError, "Unsupported digest algorithm (#{name}).: unknown object name")
      @name, @digest_length, @block_length = Native.md_info(@h)
      update(data) if data
    end

    def initialize_copy(other)
      return self if equal?(other)
      @h = Native.dup(other.instance_variable_get(:@h))
      @name, @digest_length, @block_length = Native.md_info(@h)
    end

    attr_reader :name, :digest_length, :block_length

    def update(data)
      Native.md_update(@h, data)
      self
    end
    alias << update

    def reset
      Native.md_reset(@h)
      self
    end

    private def finish = Native.md_final(@h)

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
      def digest(digest, key, data) = new(key, digest).update(data).digest
      def hexdigest(digest, key, data) = new(key, digest).update(data).hexdigest
      def base64digest(digest, key, data) = new(key, digest).update(data).base64digest
    end

    def initialize(key, digest)
      @h = Native.hmac_new(key, Given.digest(digest) || raise(TypeError, "wrong argument type nil (expected OpenSSL/Digest)"))
    end

    def initialize_copy(other)
      @h = Native.dup(other.instance_variable_get(:@h))
    end

    def update(data)
      Native.hmac_update(@h, data)
      self
    end
    alias << update

    def reset
      Native.hmac_reset(@h)
      self
    end

    def digest = Native.hmac_final(@h)
    def hexdigest = digest.unpack1("H*").force_encoding("US-ASCII")
    def base64digest = [digest].pack("m0")
    alias to_s hexdigest
    alias inspect hexdigest
    def ==(other) = other.is_a?(HMAC) && (mine = digest).bytesize == (its = other.digest).bytesize && OpenSSL.fixed_length_secure_compare(mine, its)
  end

  module KDF
    class KDFError < OpenSSLError; end

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

    def pbkdf2_hmac(password, salt, iterations, length, digest) = KDF.pbkdf2_hmac(password, salt:, iterations:, length:, hash: digest)
    def pbkdf2_hmac_sha1(password, salt, iterations, length) = pbkdf2_hmac(password, salt, iterations, length, "SHA1")
  end

  # The kernel seeds the generator: what programs add is taken and not needed.
  module Random
    class RandomError < OpenSSLError; end

    class << self
      def random_bytes(n) = Native.random(n)
      alias bytes random_bytes
      alias pseudo_bytes random_bytes

      def seed(text) = text.to_str
      def random_add(text, _entropy)
        text.to_str
        self
      end
      def status? = true
      def load_random_file(path)
        File.binread(path, 1024)
        true
      rescue SystemCallError => e
        raise RandomError, "RAND_load_file: #{e.message}"
      end
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

    def self.ciphers = Native.ciphers

    def initialize(name)
      raise TypeError, "already initialized" if @h
      @h = Native.cipher_new(name.to_str)
      info
    end

    def initialize_copy(other)
      return self if equal?(other)
      @h = Native.dup(other.instance_variable_get(:@h))
    end

    private def info
      @name, @key_len, @iv_len, @block_size, @flags = Native.cipher_info(@h)
      @mode = @flags & 0xf0007
    end

    attr_reader :name, :key_len, :block_size
    def iv_len = @aead_iv_len || @iv_len

    # EVP_CIPH_FLAG_AEAD_CIPHER
    def authenticated? = @flags & 0x200000 != 0
    private def ccm? = @mode == 7

    def encrypt(password = nil, iv = nil) = begin_with(1, password, iv)
    def decrypt(password = nil, iv = nil) = begin_with(0, password, iv)

    # Whether there is a key for the direction: one that was set before the direction is forgotten.
    private def begin_with(direction, password, iv)
      raise RuntimeError, "Cipher not initialized!" unless @h
      @direction, @keyed = direction, false
      Native.cipher_init(@h, nil, nil, direction)
      if password
        warn "arguments for #{self.class}##{direction == 1 ? "encrypt" : "decrypt"} was deprecated; use #{self.class}#pkcs5_keyivgen for password-based keys" if $VERBOSE
        pkcs5_keyivgen(password, iv)
      end
      self
    end

    def reset
      Native.cipher_init(@h, nil, nil, -1)
      self
    end

    def key_len=(n)
      Native.cipher_set(@h, :key_len, n)
      info
      n
    end

    def iv_len=(n)
      raise CipherError, "cipher does not support AEAD" unless authenticated?
      Native.cipher_set(@h, :iv_len, n)
      @aead_iv_len = n
    end

    def key=(key)
      raise ArgumentError, "key must be #{key_len} bytes" if key.to_str.bytesize != key_len
      Native.cipher_init(@h, key, nil, -1)
      @keyed = true
    end

    def iv=(iv)
      raise ArgumentError, "iv must be #{iv_len} bytes" if iv.to_str.bytesize != iv_len
      Native.cipher_init(@h, nil, iv, -1)
    end

    def random_key = self.key = Random.random_bytes(key_len)
    def random_iv = self.iv = Random.random_bytes(iv_len)

    def padding=(n)
      Native.cipher_set(@h, :padding, n)
      n
    end

    def pkcs5_keyivgen(password, salt = nil, iterations = 2048, digest = "MD5")
      raise ArgumentError, "salt must be an 8-octet string" if salt && salt.to_str.bytesize != 8
      raise ArgumentError, "iterations must be a positive integer" unless iterations.to_int > 0
      Native.cipher_keyivgen(@h, password, salt, iterations, Given.digest(digest))
      @keyed = true
      nil
    end

    def auth_data=(data)
      data = data.to_str
      Native.cipher_auth_data(@h, data)
      data
    end

    def auth_tag_len=(n)
      raise CipherError, "authentication tag not supported by this cipher" unless authenticated?
      Native.cipher_set(@h, :tag_len, n)
      @tag_len = n
    end

    def auth_tag=(tag)
      tag = tag.to_str
      raise CipherError, "authentication tag not supported by this cipher" unless authenticated?
      Native.cipher_set_tag(@h, tag)
      tag
    end

    def auth_tag(length = @tag_len || 16)
      raise CipherError, "authentication tag not supported by this cipher" unless authenticated?
      Native.cipher_tag(@h, length)
    end

    def ccm_data_len=(n)
      Native.cipher_data_len(@h, n)
      n
    end

    def update(data, buffer = nil)
      raise CipherError, "key not set" unless @keyed
      data = data.to_str
      result = Native.cipher_update(@h, data)
      buffer ? buffer.replace(result) : result
    end

    def final
      raise RuntimeError, "Cipher not initialized!" unless @h
      raise CipherError, "no key set" unless @keyed
      # CCM has told the tag from the text already.
      return "".b if ccm?
      Native.cipher_final(@h, @direction == 0 && authenticated?)
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
      def _load(der) = new(der)
    end
    def self.included(base) = base.extend(ClassMethods)
    def _dump(_level) = to_der
  end

  # Names of parts that are not here, which libraries mention in `rescue`.
  module OCSP
    class OCSPError < OpenSSLError; end
  end
  module Timestamp
    class TimestampError < OpenSSLError; end
  end
end
