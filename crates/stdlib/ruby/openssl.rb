# OpenSSL: digests, HMAC, key derivation, random bytes, AES.
require "securerandom"

module OpenSSL
  VERSION = "4.0.0"
  # No OpenSSL is behind it: what programs that ask for its version find is the one whose results these are.
  OPENSSL_VERSION = "RustCrypto, as OpenSSL 3.0.0"
  OPENSSL_LIBRARY_VERSION = OPENSSL_VERSION
  OPENSSL_VERSION_NUMBER = 0x30000000

  class OpenSSLError < StandardError; end

  def self.secure_compare(a, b)
    one, other = [a, b].map { |s| String.try_convert(s) || raise(TypeError, "no implicit conversion of #{s.nil? ? "nil" : s.class} into String") }
    fixed_length_secure_compare(::Digest::SHA256.digest(one), ::Digest::SHA256.digest(other)) && a == b
  end

  class Digest < ::Digest::Class
    class DigestError < OpenSSLError; end

    NAMES = { "MD5" => "MD5", "SHA1" => "SHA1", "SHA224" => "SHA224", "SHA256" => "SHA256", "SHA384" => "SHA384", "SHA512" => "SHA512", "RIPEMD160" => "RMD160", "RMD160" => "RMD160" }.freeze
    private_constant :NAMES

    # The name of the class in ::Digest.
    def self.__base(digest)
      return digest.__send__(:base_name) if digest.is_a?(Digest)
      name = String.try_convert(digest) || raise(TypeError, "wrong argument type #{digest.class} (expected OpenSSL/Digest)")
      NAMES[name.upcase.delete_prefix("RSA-").sub(/\ASHA2?-(?=\d{3})/, "SHA")] || raise(DigestError, "Unsupported digest algorithm (#{name}).: unknown object name")
    end
    private_class_method :__base

    def self.digest(name, data) = new(name).update(data).digest
    def self.hexdigest(name, data) = new(name).update(data).hexdigest

    def initialize(name, data = nil)
      @base_name = Digest.__send__(:__base, name)
      @hash = ::Digest.const_get(@base_name).new
      update(data) if data
    end

    def initialize_copy(other)
      @base_name = other.instance_variable_get(:@base_name)
      @hash = other.instance_variable_get(:@hash).dup
    end

    def name = @base_name == "RMD160" ? "RIPEMD160" : @base_name

    def update(data)
      @hash.update(data)
      self
    end
    alias << update

    def reset
      @hash.reset
      self
    end

    def digest_length = @hash.digest_length
    def block_length = @hash.block_length

    private def finish = @hash.__send__(:finish)
    private def base_name = @base_name

    %w[MD5 RIPEMD160 SHA1 SHA224 SHA256 SHA384 SHA512].each do |name|
      const_set(name, Class.new(self) do
        define_method(:initialize) { |data = nil| super(name, data) }
        define_singleton_method(:digest) { |data| new.update(data).digest }
        define_singleton_method(:hexdigest) { |data| new.update(data).hexdigest }
      end)
    end
  end

  def self.Digest(name) = Digest.const_get(name)

  class HMACError < OpenSSLError; end

  class HMAC
    include ::Digest::Instance

    class << self
      def digest(digest, key, data) = OpenSSL.__send__(:__hmac, Digest.__send__(:__base, digest), key, data)
      def hexdigest(digest, key, data) = digest(digest, key, data).unpack1("H*")
      def base64digest(digest, key, data) = [digest(digest, key, data)].pack("m0")
    end

    def initialize(key, digest)
      @base_name = Digest.__send__(:__base, digest)
      key = key.to_str
      block = ::Digest.const_get(@base_name).new.block_length
      key = ::Digest.const_get(@base_name).digest(key) if key.bytesize > block
      @key = key.b.ljust(block, "\0")
      reset
    end

    def initialize_copy(other)
      super
      @inner = @inner.dup
    end

    def update(data)
      @inner.update(data)
      self
    end
    alias << update

    def reset
      @inner = ::Digest.const_get(@base_name).new.update(@key.bytes.map { |b| b ^ 0x36 }.pack("C*"))
      self
    end

    def digest = ::Digest.const_get(@base_name).new.update(@key.bytes.map { |b| b ^ 0x5c }.pack("C*")).update(@inner.digest).digest
    def hexdigest = digest.unpack1("H*")
    alias to_s hexdigest
    alias inspect hexdigest
    def base64digest = [digest].pack("m0")
    def digest_length = @inner.digest_length
    def block_length = @inner.block_length

    def ==(other)
      other.is_a?(HMAC) && digest_length == other.digest_length && OpenSSL.fixed_length_secure_compare(digest, other.digest)
    end
  end

  module KDF
    class KDFError < OpenSSLError; end

    def self.pbkdf2_hmac(password, salt:, iterations:, length:, hash:)
      raise KDFError, "PKCS5_PBKDF2_HMAC: invalid iteration count" if iterations < 1
      OpenSSL.__send__(:__pbkdf2, Digest.__send__(:__base, hash), password, salt, iterations, length)
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

  module Random
    class RandomError < OpenSSLError; end

    def self.random_bytes(n)
      raise ArgumentError, "negative string size (or size too big)" if n < 0
      SecureRandom.bytes(n)
    end
    class << self
      alias bytes random_bytes
      alias pseudo_bytes random_bytes
    end
  end

  class Cipher
    class CipherError < OpenSSLError; end
    class AuthTagError < CipherError; end

    SIZES = { "128" => 16, "192" => 24, "256" => 32 }.freeze
    MODES = %w[ECB CBC CTR GCM].freeze
    private_constant :SIZES, :MODES

    def self.ciphers = SIZES.keys.flat_map { |size| MODES.map { |mode| "aes-#{size}-#{mode.downcase}" } }.sort

    def initialize(name)
      name = name.to_str
      match = /\A(?:id-)?AES-?(128|192|256)(?:-(ECB|CBC|CTR|GCM))?\z/i.match(name)
      raise CipherError, "unsupported cipher algorithm (#{name}): unsupported" unless match
      @size, @mode = match[1], (match[2] || "CBC").upcase
      @padding = true
      @encrypting = false
      @iv_len = @mode == "GCM" ? 12 : 16
    end

    def initialize_copy(_)
      raise CipherError, "a cipher at work can't be copied" if @started
      super
    end

    def name = "#{"id-aes#{@size}-GCM" if @mode == "GCM"}#{"AES-#{@size}-#{@mode}" if @mode != "GCM"}"
    def key_len = SIZES[@size]
    def iv_len = @mode == "ECB" ? 0 : @iv_len
    def block_size = %w[ECB CBC].include?(@mode) ? 16 : 1
    def authenticated? = @mode == "GCM"

    def encrypt = begin_with(true)
    def decrypt = begin_with(false)

    private def begin_with(encrypting)
      @encrypting = encrypting
      reset
    end

    def reset
      @started = false
      @expected_tag = nil
      self
    end

    def key_len=(n)
      raise CipherError, "invalid key length" if n != key_len
      n
    end

    def iv_len=(n)
      raise CipherError, "cipher does not support AEAD" unless authenticated?
      @iv_len = n
    end

    def key=(key)
      raise ArgumentError, "key must be #{key_len} bytes" if key.to_str.bytesize != key_len
      @started = false
      @key = key.to_str.b
    end

    def iv=(iv)
      raise ArgumentError, "iv must be #{iv_len} bytes" if iv.to_str.bytesize != iv_len
      @started = false
      @iv = iv.to_str.b
    end

    def random_key = self.key = Random.bytes(key_len)
    def random_iv = self.iv = Random.bytes(iv_len)

    def pkcs5_keyivgen(pass, salt = nil, iterations = 2048, digest = "MD5")
      raise ArgumentError, "salt must be an 8-octet string" if salt && salt.bytesize != 8
      made = block = "".b
      while made.bytesize < key_len + iv_len
        block = Digest.digest(digest, block + pass.b + salt.to_s.b)
        (iterations - 1).times { block = Digest.digest(digest, block) }
        made += block
      end
      self.key = made.byteslice(0, key_len)
      self.iv = made.byteslice(key_len, iv_len) if iv_len > 0
      nil
    end

    def padding=(n)
      @padding = n != 0
      n
    end

    def auth_data=(data)
      raise CipherError, "AEAD not supported by this cipher" unless authenticated?
      start
      __auth_data(data)
      data
    end

    def auth_tag_len=(n)
      @tag_len = n
    end

    def auth_tag=(tag)
      raise CipherError, "authentication tag not supported by this cipher" unless authenticated?
      @expected_tag = tag.to_str.b
    end

    def auth_tag(length = @tag_len || 16)
      raise CipherError, "authentication tag not supported by this cipher" unless authenticated?
      raise CipherError, "retrieving the authentication tag failed" unless @encrypting && @final
      __tag.byteslice(0, length)
    end

    def update(data, buffer = nil)
      start
      result = __update(data, @padding)
      buffer ? buffer.replace(result) : result
    end

    def final
      start
      if authenticated? && !@encrypting
        raise CipherError, "authentication tag not set" unless @expected_tag
        given = __tag.byteslice(0, @expected_tag.bytesize)
        if @expected_tag.bytesize < 4 || given.bytesize != @expected_tag.bytesize || !OpenSSL.fixed_length_secure_compare(given, @expected_tag)
          raise AuthTagError, "AEAD authentication tag verification failed"
        end
      end
      @final = true
      __final(@padding)
    end

    private def start
      return if @started
      raise CipherError, "no key set" unless @key
      @final = false
      __start(@mode, @encrypting, @key, @iv || "\0".b * [iv_len, 1].max)
      @started = true
    end

    # AES.new(256, :CBC), AES256.new(:CBC)
    class AES < Cipher
      def initialize(*parts) = super("AES-#{parts.flat_map { |part| part.to_s.split("-") }.join("-")}")
    end

    SIZES.each_key do |size|
      const_set("AES#{size}", Class.new(Cipher) { define_method(:initialize) { |mode = "CBC"| super("AES-#{size}-#{mode}") } })
    end
  end
end

# Names of the parts that are not there, which libraries mention (in `rescue`, as defaults of options) long before they need them. Making an object
# of one says that it is not there; settings of connections (SSLContext, Store) are kept for nobody.
module OpenSSL
  module Missing
    def new(*) = raise(NotImplementedError, "#{self} is not implemented: OpenSSL has digests, HMAC, key derivation and ciphers here")
  end
  private_constant :Missing

  module SSL
    class SSLError < OpenSSLError; end
    class SSLErrorWaitReadable < SSLError
      include IO::WaitReadable
    end
    class SSLErrorWaitWritable < SSLError
      include IO::WaitWritable
    end
    VERIFY_NONE, VERIFY_PEER, VERIFY_FAIL_IF_NO_PEER_CERT, VERIFY_CLIENT_ONCE = 0, 1, 2, 4
    SSL3_VERSION, TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION = 0x300, 0x301, 0x302, 0x303, 0x304
    OP_ALL, OP_NO_COMPRESSION, OP_NO_SSLv2, OP_NO_SSLv3 = 0x80000850, 0x20000, 0, 0x2000000
    OP_NO_TLSv1, OP_NO_TLSv1_1, OP_NO_TLSv1_2, OP_NO_TLSv1_3 = 0x4000000, 0x10000000, 0x8000000, 0x20000000

    # What a connection is to be like: clients make one before they know whether they will need it.
    class SSLContext
      SESSION_CACHE_OFF, SESSION_CACHE_CLIENT, SESSION_CACHE_SERVER, SESSION_CACHE_BOTH, SESSION_CACHE_NO_INTERNAL_STORE = 0, 1, 2, 3, 512
      DEFAULT_PARAMS = { min_version: TLS1_VERSION, verify_mode: VERIFY_PEER, verify_hostname: true, options: OP_ALL }.freeze

      attr_accessor :cert, :key, :client_ca, :ca_file, :ca_path, :timeout, :verify_mode, :verify_depth, :verify_callback, :verify_hostname, :options,
        :cert_store, :extra_chain_cert, :client_cert_cb, :session_id_context, :session_get_cb, :session_new_cb, :session_remove_cb,
        :tmp_dh_callback, :servername_cb, :alpn_protocols, :alpn_select_cb, :npn_protocols, :npn_select_cb, :renegotiation_cb, :keylog_cb,
        :session_cache_mode, :session_cache_size, :security_level, :min_version, :max_version, :ssl_version, :ciphers, :ciphersuites, :ecdh_curves

      def initialize(version = nil)
        @ssl_version = version
        @options = OP_ALL
      end

      def set_params(params = {})
        params = DEFAULT_PARAMS.merge(params)
        params.each { |name, value| __send__(:"#{name}=", value) }
        @cert_store ||= X509::Store.new.tap(&:set_default_paths) unless @ca_file || @ca_path || @verify_mode == VERIFY_NONE
        params
      end

      def setup = true
      alias freeze setup
    end
    %i[SSLSocket SSLServer Session].each { |name| const_set(name, Class.new).extend(Missing) }
  end

  module X509
    V_OK = 0
    class StoreError < OpenSSLError; end

    # Where certificates are to be looked for.
    class Store
      attr_accessor :verify_callback, :purpose, :trust, :time, :flags, :error, :error_string, :chain
      def set_default_paths = nil
      def add_file(_) = self
      def add_path(_) = self
    end

    {
      Certificate: :CertificateError, CRL: :CRLError, Request: :RequestError, Name: :NameError, Extension: :ExtensionError,
      ExtensionFactory: nil, StoreContext: nil, Revoked: :RevokedError, Attribute: :AttributeError
    }.each do |name, error|
      const_set(name, Class.new).extend(Missing)
      const_set(error, Class.new(OpenSSLError)) if error
    end
  end

  module PKey
    class PKeyError < OpenSSLError; end
    class PKey
      extend Missing
    end
    %i[RSA DSA DH EC].each do |name|
      const_set(name, Class.new(PKey))
      const_set(:"#{name}Error", Class.new(PKeyError))
    end
    %i[Group Point].each { |name| EC.const_set(name, Class.new).extend(Missing) }
    def self.read(*) = PKey.new
  end

  module ASN1
    class ASN1Error < OpenSSLError; end
  end
  class PKCS12
    extend Missing
    class PKCS12Error < OpenSSLError; end
  end
  class BN
    extend Missing
  end
  class BNError < OpenSSLError; end
end
