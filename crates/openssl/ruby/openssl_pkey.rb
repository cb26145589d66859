# OpenSSL::PKey: keys.
module OpenSSL
  module PKey
    class PKeyError < OpenSSLError; end
    %i[RSAError DSAError DHError ECError].each { |name| const_set(name, PKeyError) }

    class << self
      # The key in a text in PEM or DER; the block is asked for a password. PKeyError if it can't be read.
      def read(source, password = nil, &block) = __wrap(__read(source, password, &block))

      # A new key of a type ("RSA", "ED25519"), or of another key's parameters; options as OpenSSL names them.
      #
      #     key = OpenSSL::PKey.generate_key("ED25519")
      #     key.verify(nil, key.sign(nil, "data"), "data")   #=> true
      def generate_key(from, options = nil, &block) = __make(from, options, false, &block)
      # New parameters for keys of a type: "DH", "DSA", "EC".
      def generate_parameters(from, options = nil, &block) = __make(from, options, true, &block)

      # A private key from its bytes, of types that have such: "X25519", "ED25519".
      def new_raw_private_key(type, data) = __wrap(Native.pkey_raw_new(type, data, true))
      # A public key from its bytes, of types that have such: "X25519", "ED25519".
      def new_raw_public_key(type, data) = __wrap(Native.pkey_raw_new(type, data, false))

      # A key around a handle.
      def __wrap(handle)
        type =
          case Native.pkey_type(handle)
          when "RSA", "RSA-PSS" then RSA
          when "DSA" then DSA
          when "DH", "DHX" then DH
          when "EC", "SM2" then EC
          else PKey
          end
        key = type.allocate
        key.__take(handle)
      end

      def __read(source, password = nil)
        data = Given.string(source)
        password = String.try_convert(password) || raise(TypeError, "no implicit conversion of #{password.class} into String") unless password.nil?
        handle = Native.pkey_read(data, password)
        return handle unless handle == :password
        raise PKeyError, "Could not parse PKey: no password given" unless block_given?
        password = yield(false)
        handle = Native.pkey_read(data, String.try_convert(password) || raise(PKeyError, "Could not parse PKey: no password given"))
        handle == :password ? raise(PKeyError, "Could not parse PKey: bad password read") : handle
      end

      private def __make(from, options, parameters, &block)
        pairs = PKey.__send__(:__pairs, options)
        handle = from.is_a?(PKey) ? from.__handle : nil
        name = handle ? nil : from.to_str
        __wrap(Native.pkey_generate(name, handle, pairs, parameters, &block))
      end
    end
    Given.functions(self, :read, :generate_key, :generate_parameters, :new_raw_private_key, :new_raw_public_key)

    class PKey
      def self.__pairs(options)
        case options
        when nil then []
        when Hash, Array
          options.map do |pair|
            raise TypeError, "wrong argument type #{pair.class} (expected Hash)" unless pair.is_a?(Array) && pair.size == 2
            pair.map(&:to_s)
          end
        else raise TypeError, "wrong argument type #{options.class} (expected Hash)"
        end
      end
      private_class_method :__pairs

      # Raises: keys come from `OpenSSL::PKey.read`, `generate_key` and the classes of types.
      def initialize
        raise TypeError, "OpenSSL::PKey::PKey can't be instantiated directly" if instance_of?(PKey)
        raise NotImplementedError, "OpenSSL::PKey::PKey is an abstract class" if instance_of?(PKey)
      end

      def initialize_copy(other)
        @__h = other.__handle
      end

      def __handle = @__h || raise(PKeyError, "uninitialized key")
      def __take(handle)
        @__h = handle
        self
      end
      private def pairs(options) = PKey.__send__(:__pairs, options)
      private def __number(name) = Given.bn(Native.pkey_bn(__handle, name))

      TYPES = { "RSA" => "rsaEncryption", "EC" => "id-ecPublicKey", "DH" => "dhKeyAgreement", "DHX" => "dhpublicnumber", "RSA-PSS" => "rsassaPss", "DSA" => "dsaEncryption" }.freeze
      private_constant :TYPES
      # The name of the key's type: "rsaEncryption".
      def oid
        type = Native.pkey_type(__handle)
        Native.oid(TYPES[type] || type)&.first || type
      end

      # Class and type; no secret.
      def inspect = "#<#{self.class}:0x#{(object_id * 8).to_s(16).rjust(16, "0")} oid=#{oid} type_name=#{Native.pkey_type(__handle)}>"
      # The parts of the key as text, also the private ones.
      def to_text = Native.pkey_print(__handle)
      # Whether the key has its private part.
      def private? = !!(Native.pkey_bytes(__handle, "priv") || Native.pkey_bn(__handle, "priv") || Native.pkey_bn(__handle, "d"))
      # Whether the key has its public part.
      def public? = true

      # The private key in PEM (PKCS #8), encrypted if a cipher is given; the block is asked for the password.
      def private_to_pem(cipher = nil, password = nil, &block) = pkcs8(:pkcs8_pem, cipher, password, &block)
      # The private key in DER (PKCS #8), encrypted if a cipher is given; the block is asked for the password.
      def private_to_der(cipher = nil, password = nil, &block) = pkcs8(:pkcs8_der, cipher, password, &block)
      private def pkcs8(form, cipher, password)
        return Native.pkey_write(__handle, form, nil, nil) unless cipher
        password ||= block_given? ? yield(true) : raise(PKeyError, "a password is needed")
        Native.pkey_write(__handle, form, Given.cipher(cipher), password)
      end
      # The public key in PEM.
      def public_to_pem = Native.pkey_write(__handle, :public_pem, nil, nil)
      # The public key in DER.
      def public_to_der = Native.pkey_write(__handle, :public_der, nil, nil)
      # A number, octets or a name by what OpenSSL calls it.
      def get_param(name)
        h = __handle
        text = Native.pkey_text(h, name)
        number = Native.pkey_bn(h, name)
        return text if text && !number
        return Given.bn(number) if number && !Native.pkey_bytes(h, name)
        Native.pkey_bytes(h, name) || Given.bn(number) || raise(PKeyError, "EVP_PKEY_get_params: #{name} not found")
      end
      # The bytes of a private key, of types that have such.
      def raw_private_key = Native.pkey_raw(__handle, true)
      # The bytes of a public key, of types that have such.
      def raw_public_key = Native.pkey_raw(__handle, false)

      # Of the type of a class; `failed`: what it says about a text that is no key at all.
      private def of_type(failed, types)
        @__h = begin
          yield
        rescue PKeyError
          raise PKeyError, failed
        end
        raise PKeyError, "incorrect pkey type: #{oid}" unless types.include?(Native.pkey_type(@__h))
      end

      # As the type's own classes write themselves.
      private def write_pem(cipher, password)
        return private? ? traditional(:private_pem, cipher, password) { |*a| block_given? ? yield(*a) : nil } : public_to_pem
      end
      private def traditional(form, cipher, password)
        return Native.pkey_write(__handle, form, nil, nil) unless cipher
        password ||= yield(true) || raise(PKeyError, "a password is needed")
        Native.pkey_write(__handle, form, Given.cipher(cipher), password)
      end

      # The signature of data by a digest (nil for types that have their own); ArgumentError without a private key.
      def sign(digest, data, options = nil)
        Native.pkey_digest_sign(Given.private_key(self), Given.digest(digest), data, nil, pairs(options))
      end
      # Whether a signature is that of the data.
      def verify(digest, signature, data, options = nil) = Native.pkey_digest_sign(__handle, Given.digest(digest), data, signature.to_str, pairs(options))
      # The signature of a digest's bytes; PKeyError without a private key.
      def sign_raw(digest, data, options = nil)
        Native.pkey_do(__handle, :sign, Given.digest(digest), data.to_str, nil, pairs(options))
      end
      # Whether a signature is that of a digest's bytes.
      def verify_raw(digest, signature, data, options = nil) = Native.pkey_do(__handle, :verify, Given.digest(digest), data.to_str, signature.to_str, pairs(options))
      # The bytes that an RSA signature was made of.
      def verify_recover(digest, signature, options = nil) = Native.pkey_do(__handle, :verify_recover, Given.digest(digest), signature.to_str, nil, pairs(options))
      # The data encrypted by the public key.
      def encrypt(data, options = nil) = Native.pkey_do(__handle, :encrypt, nil, data.to_str, nil, pairs(options))
      # The data decrypted by the private key; PKeyError if it can't be.
      def decrypt(data, options = nil) = Native.pkey_do(__handle, :decrypt, nil, data.to_str, nil, pairs(options))
      # The secret that this private key and the peer's public key have in common.
      def derive(peer) = Native.pkey_do(__handle, :derive, nil, peer.is_a?(PKey) ? peer.__handle : raise(TypeError, "wrong argument type #{peer.class} (expected OpenSSL/EVP_PKEY)"), nil, [])

      # Whether both have the same public part; TypeError for different types.
      def compare?(other)
        raise TypeError, "wrong argument type #{other.class} (expected OpenSSL/EVP_PKEY)" unless other.is_a?(PKey)
        raise TypeError, "cannot match different PKey types" if Native.pkey_type(__handle) != Native.pkey_type(other.__handle)
        Native.pkey_eq(__handle, other.__handle) == 1
      end

      # Keys never change: what sets a part of one did so with OpenSSL 1.
      private def without_arguments = raise(ArgumentError, "#{self.class}.new cannot be called without arguments; pkeys are immutable with OpenSSL 3.0")
      private def immutable = raise(PKeyError, "pkeys are immutable on OpenSSL 3.0")
    end

    class RSA < PKey
      include Marshal
      PKCS1_PADDING, SSLV23_PADDING, NO_PADDING, PKCS1_OAEP_PADDING, X931_PADDING = 1, 2, 3, 4, 5
      PADDINGS = { 1 => "pkcs1", 3 => "none", 4 => "oaep", 5 => "x931" }.freeze
      PARTS = { "n" => "n", "e" => "e", "d" => "d", "p" => "rsa-factor1", "q" => "rsa-factor2", "dmp1" => "rsa-exponent1", "dmq1" => "rsa-exponent2", "iqmp" => "rsa-coefficient1" }.freeze
      private_constant :PADDINGS, :PARTS

      class << self
        # A new key of so many bits.
        def generate(size, exponent = 0x10001, &block)
          OpenSSL::PKey.generate_key("RSA", { "rsa_keygen_bits" => Integer(size), "rsa_keygen_pubexp" => exponent.to_i }, &block)
        end

        # A new key of so many bits, or one in a text in PEM or DER.
        def new(*args, &block)
          return generate(*args, &block) if args[0].is_a?(Integer)
          super
        end
      end

      # The key in a text in PEM or DER; a password or the block opens it. PKeyError if it is no RSA key.
      #
      #     key = OpenSSL::PKey::RSA.new(2048)
      #     key.verify("SHA256", key.sign("SHA256", "data"), "data")   #=> true
      def initialize(source = nil, password = nil, &block)
        without_arguments if source.nil?
        text = Given.string(source)
        of_type("Neither PUB key nor PRIV key", %w[RSA RSA-PSS]) { public_numbers(text) || OpenSSL::PKey.__read(text, password, &block) }
      end

      # PKCS #1's public key is told from DH's parameters by who asks.
      private def public_numbers(text)
        return unless text.b.start_with?("\x30".b)
        parts = ASN1.decode(text).value
        return unless parts.size == 2 && parts.all?(ASN1::Integer)
        n, e = parts.map { |part| part.value.to_i }
        Native.pkey_build("RSA", [["n", :bn, n.to_s(16)], ["e", :bn, e.to_s(16)]], 0x86)
      rescue ASN1::ASN1Error
        nil
      end

      # :method: n: The modulus, an OpenSSL::BN.
      # :method: e: The public exponent.
      # :method: d: The private exponent, or nil.
      # :method: p: The first prime factor, or nil.
      # :method: q: The second prime factor, or nil.
      # :method: dmp1: `d` modulo `p - 1`, or nil.
      # :method: dmq1: `d` modulo `q - 1`, or nil.
      # :method: iqmp: The inverse of `q` modulo `p`, or nil.
      PARTS.each { |name, part| define_method(name) { __number(part) } }
      # The parts as a Hash, by their names.
      def params = PARTS.to_h { |name, part| [name, __number(part)] }
      # True: there is always a public part.
      def public? = true
      # Whether the key has its private part.
      def private? = !!Native.pkey_bn(__handle, "d")
      # The key without its private part.
      def public_key = RSA.new(public_to_der)

      # The key in PEM, the private one encrypted if a cipher is given; the block is asked for the password.
      def export(cipher = nil, password = nil, &block) = private? ? write_pem(cipher, password, &block) : public_to_pem
      alias to_pem export
      alias to_s export
      # The key in DER.
      def to_der = private? ? Native.pkey_write(__handle, :private_der, nil, nil) : public_to_der

      # PKeyError: keys never change.
      def set_key(*) = immutable
      # PKeyError: keys never change.
      def set_factors(*) = immutable
      # PKeyError: keys never change.
      def set_crt_params(*) = immutable

      private def padding(n) = { "rsa_padding_mode" => PADDINGS[n] || raise(PKeyError, "unsupported padding mode") }

      # The data by the private key, in the padding of signatures; PKeyError without one.
      def private_encrypt(data, mode = PKCS1_PADDING)
        n || raise(PKeyError, "incomplete RSA")
        raise PKeyError, "private key needed." unless private?
        sign_raw(nil, data, padding(mode))
      end
      # What `private_encrypt` was given, by the public key.
      def public_decrypt(data, mode = PKCS1_PADDING)
        n || raise(PKeyError, "incomplete RSA")
        verify_recover(nil, data, padding(mode))
      end
      # The data encrypted by the public key, with a padding: PKCS1_PADDING, PKCS1_OAEP_PADDING.
      def public_encrypt(data, mode = PKCS1_PADDING)
        n || raise(PKeyError, "incomplete RSA")
        encrypt(data, padding(mode))
      end
      # The data decrypted by the private key; PKeyError without one.
      def private_decrypt(data, mode = PKCS1_PADDING)
        n || raise(PKeyError, "incomplete RSA")
        raise PKeyError, "private key needed." unless private?
        decrypt(data, padding(mode))
      end

      private def pss(salt_length, mgf1)
        length = case salt_length when :digest, :max, :auto then salt_length.to_s else Integer(salt_length).to_s end
        { "rsa_padding_mode" => "pss", "rsa_pss_saltlen" => length, "rsa_mgf1_md" => Given.digest(mgf1) }
      end
      # The signature of data by PSS; `salt_length` is a number, `:digest`, `:max` or `:auto`.
      def sign_pss(digest, data, salt_length:, mgf1_hash:)
        sign(digest, data, pss(salt_length, mgf1_hash))
      end
      # Whether a signature by PSS is that of the data.
      def verify_pss(digest, signature, data, salt_length:, mgf1_hash:) = verify(digest, signature, data, pss(salt_length, mgf1_hash))
    end

    class DSA < PKey
      include Marshal
      PARTS = { "p" => "p", "q" => "q", "g" => "g", "pub_key" => "pub", "priv_key" => "priv" }.freeze
      private_constant :PARTS

      class << self
        # New parameters and a new key of so many bits.
        def generate(size, &block)
          params = OpenSSL::PKey.generate_parameters("DSA", { "dsa_paramgen_bits" => Integer(size) }.merge("dsa_paramgen_q_bits" => size >= 2048 ? 256 : 160), &block)
          OpenSSL::PKey.generate_key(params)
        end

        # A new key of so many bits, or one in a text in PEM or DER.
        def new(*args, &block)
          return generate(*args, &block) if args[0].is_a?(Integer)
          super
        end
      end

      # The key in a text in PEM or DER; a password or the block opens it. PKeyError if it is no DSA key.
      def initialize(source = nil, password = nil, &block)
        without_arguments if source.nil?
        of_type("Neither PUB key nor PRIV key", %w[DSA]) { OpenSSL::PKey.__read(source, password, &block) }
      end

      # :method: p: The prime of the parameters, an OpenSSL::BN.
      # :method: q: The order of the group.
      # :method: g: The generator.
      # :method: pub_key: The public number, or nil.
      # :method: priv_key: The private number, or nil.
      PARTS.each { |name, part| define_method(name) { __number(part) } }
      # The parts as a Hash, by their names.
      def params = PARTS.to_h { |name, part| [name, __number(part)] }
      # Whether the key has its public part.
      def public? = !!Native.pkey_bn(__handle, "pub")
      # Whether the key has its private part.
      def private? = !!Native.pkey_bn(__handle, "priv")
      # The key without its private part.
      def public_key = DSA.new(public_to_der)

      # The key, or the parameters, in PEM, the private key encrypted if a cipher is given.
      def export(cipher = nil, password = nil, &block)
        return write_pem(cipher, password, &block) if private?
        public? ? public_to_pem : Native.pkey_write(__handle, :parameters_pem, nil, nil)
      end
      alias to_pem export
      alias to_s export
      # The key, or the parameters, in DER.
      def to_der
        return Native.pkey_write(__handle, :private_der, nil, nil) if private?
        public? ? public_to_der : Native.pkey_write(__handle, :parameters_der, nil, nil)
      end

      # The signature of a digest's bytes; PKeyError without a private key.
      def syssign(string)
        q || raise(PKeyError, "incomplete DSA")
        raise PKeyError, "Private DSA key needed!" unless private?
        sign_raw(nil, string)
      end
      # Whether a signature is that of a digest's bytes.
      def sysverify(digest, signature) = verify_raw(nil, signature, digest)
      # PKeyError: keys never change.
      def set_key(*) = immutable
      # PKeyError: keys never change.
      def set_pqg(*) = immutable
    end

    class DH < PKey
      include Marshal
      PARTS = { "p" => "p", "q" => "q", "g" => "g", "pub_key" => "pub", "priv_key" => "priv" }.freeze
      private_constant :PARTS

      class << self
        # New parameters of so many bits, which takes long, and a new key.
        def generate(size, generator = 2, &block)
          params = OpenSSL::PKey.generate_parameters("DH", { "dh_paramgen_prime_len" => Integer(size), "dh_paramgen_generator" => Integer(generator) }, &block)
          OpenSSL::PKey.generate_key(params)
        end

        # New parameters of so many bits and a key, or the parameters in a text.
        def new(*args, &block)
          return generate(*args, &block) if args[0].is_a?(Integer)
          super
        end
      end

      # The parameters in a text in PEM or DER; PKeyError if they are none of DH.
      def initialize(source = nil, &block)
        without_arguments if source.nil?
        of_type("could not parse pkey", %w[DH DHX]) { OpenSSL::PKey.__read(source, nil, &block) }
      end

      # :method: p: The prime of the parameters, an OpenSSL::BN.
      # :method: q: The order of the group, or nil.
      # :method: g: The generator.
      # :method: pub_key: The public number, or nil.
      # :method: priv_key: The private number, or nil.
      PARTS.each { |name, part| define_method(name) { __number(part) } }
      # The parts as a Hash, by their names.
      def params = %w[p q g pub_key priv_key].to_h { |name| [name, __number(PARTS[name])] }
      # Whether there is a public number.
      def public? = !!Native.pkey_bn(__handle, "pub")
      # Whether there is a private number.
      def private? = !!Native.pkey_bn(__handle, "priv")
      # The parameters, without a key.
      def public_key = DH.new(to_der)
      # The parameters in PEM.
      def export = Native.pkey_write(__handle, :parameters_pem, nil, nil)
      alias to_pem export
      alias to_s export
      # The parameters in DER.
      def to_der = Native.pkey_write(__handle, :parameters_der, nil, nil)
      # Whether the parameters are good ones.
      def params_ok? = Native.pkey_check(__handle, :param)

      # The secret that this private key and the other's public number have in common.
      def compute_key(public)
        public = public.to_i
        parts = [["p", :bn, Given.hex(p)], ["g", :bn, Given.hex(g)], ["pub", :bn, public.to_s(16)]]
        parts << ["q", :bn, Given.hex(q)] if q
        peer = Native.pkey_build(Native.pkey_type(__handle), parts, 0x86)
        Native.pkey_do(__handle, :derive, nil, peer, nil, [["dh_pad", "0"]])
      end
      # PKeyError: keys never change; use `OpenSSL::PKey.generate_key(parameters)`.
      def generate_key! = raise(PKeyError, "DH is immutable on OpenSSL 3.0; use OpenSSL::PKey.generate_key instead")
      # PKeyError: keys never change.
      def set_key(*) = immutable
      # PKeyError: keys never change.
      def set_pqg(*) = immutable
    end

    class EC < PKey
      include Marshal
      EXPLICIT_CURVE, NAMED_CURVE = 0, 1

      class << self
        # `[name, comment]` of each curve.
        def builtin_curves = Native.curves.each_slice(2).to_a
        # A new key of a curve.
        #
        #     OpenSSL::PKey::EC.generate("prime256v1").group.degree   #=> 256
        def generate(group, &block)
          begin
            group = Group.new(group) unless group.is_a?(Group)
          rescue Group::Error
            raise PKeyError, "invalid curve name"
          end
          OpenSSL::PKey.generate_key(OpenSSL::PKey.__wrap(Native.pkey_read(group.to_der, nil)), &block)
        end
      end

      # The key in a text in PEM or DER, the key of another one, or parameters of a group or a curve's name. PKeyError if it is no EC key.
      def initialize(source = nil, password = nil, &block)
        case source
        when nil then without_arguments
        when EC then return @__h = source.__handle
        when Group then return @__h = Native.pkey_read(source.to_der, nil)
        end
        text = Given.string(source)
        if !text.include?("\0") && text.bytesize < 64 && Native.oid(text) && (group = Native.group_new(text))
          @__h = Native.pkey_read(Native.group_get(group, :der), nil)
        else
          of_type("invalid curve name", %w[EC SM2]) { OpenSSL::PKey.__read(text, password, &block) }
        end
      end

      # The group of the key, an EC::Group.
      def group = @group ||= Group.new(Native.pkey_write(__handle, :parameters_der, nil, nil))
      # The private number, an OpenSSL::BN, or nil.
      def private_key = __number("priv")
      # The public point, an EC::Point, or nil.
      def public_key
        octets = Native.pkey_bytes(__handle, "pub")
        octets && Point.new(group, octets)
      end
      # Whether there is a public point.
      def public? = !!Native.pkey_bytes(__handle, "pub")
      # Whether there is a private number.
      def private? = !!Native.pkey_bn(__handle, "priv")
      alias public_key? public?
      alias private_key? private?
      # PKeyError: keys never change.
      def group=(_)
        immutable
      end
      # PKeyError: keys never change.
      def public_key=(_)
        immutable
      end
      # PKeyError: keys never change.
      def private_key=(_)
        immutable
      end
      # PKeyError: keys never change.
      def generate_key! = immutable
      alias generate_key generate_key!

      # The key in PEM, the private one encrypted if a cipher is given; PKeyError if there are parameters alone.
      def export(cipher = nil, password = nil, &block)
        raise PKeyError, "can't export - no public key set" unless public? || private?
        private? ? write_pem(cipher, password, &block) : public_to_pem
      end
      alias to_pem export
      alias to_s export
      # The key in DER; PKeyError if there are parameters alone.
      def to_der
        raise PKeyError, "can't export - no public key set" unless public? || private?
        private? ? Native.pkey_write(__handle, :private_der, nil, nil) : public_to_der
      end
      # True if the key is a good one; PKeyError if not.
      def check_key = Native.pkey_check(__handle, private? ? :pair : :public) || raise(PKeyError, "EVP_PKEY_check: invalid key")

      # The signature of a digest's bytes; PKeyError without a private key.
      def dsa_sign_asn1(data) = sign_raw(nil, data)
      # Whether a signature is that of a digest's bytes.
      def dsa_verify_asn1(data, signature) = verify_raw(nil, signature, data)
      # The secret that this private key and the other's public point have in common.
      def dh_compute_key(point)
        parts = [["group", :text, group.curve_name || raise(PKeyError, "no curve's name")], ["pub", :bytes, point.to_octet_string(:uncompressed)]]
        Native.pkey_do(__handle, :derive, nil, Native.pkey_build("EC", parts, 0x86), nil, [])
      end

      class Group
        class Error < OpenSSLError; end
        FORMS = { compressed: 2, uncompressed: 4, hybrid: 6 }.freeze
        private_constant :FORMS

        def self.__form(name) = FORMS[name.respond_to?(:to_sym) ? name.to_sym : name] || raise(ArgumentError, "unsupported point conversion form: #{name.inspect}")
        private_class_method :__form

        # The group of a curve's name, of a text in PEM or DER, of another group, or of a field (`:GFp`) with `p`, `a` and `b`.
        def initialize(source, p = nil, a = nil, b = nil)
          raise ArgumentError, "wrong number of arguments (given #{1 + [p, a, b].compact.size}, expected 1 or 4)" if p && !b
          @__h =
            if p then Native.group_curve(source.to_sym, Given.hex(p), Given.hex(a), Given.hex(b))
            elsif source.is_a?(Group) then Native.dup(source.__handle)
            else
              text = Given.string(source)
              if (pem = text[/-----BEGIN EC PARAMETERS-----(.+?)-----END/m, 1])
                text = pem.unpack1("m")
              end
              Native.group_new(text) || raise(Error, "unknown curve name (#{text})")
            end
        end

        def initialize_copy(other)
          @__h = Native.dup(other.__handle)
        end

        def __handle = @__h || raise(Error, "uninitialized group")
        # Whether both are the same group.
        def ==(other) = other.is_a?(Group) && Native.group_eq(__handle, other.__handle)
        alias eql? ==
        # The name of the curve, or nil.
        def curve_name = Native.group_get(__handle, :name)
        # The order of the generator, an OpenSSL::BN.
        def order = Given.bn(Native.group_get(__handle, :order))
        # The cofactor, an OpenSSL::BN.
        def cofactor = Given.bn(Native.group_get(__handle, :cofactor))
        # The bits of an element of the field.
        def degree = Native.group_get(__handle, :degree)
        # The seed that the curve was made of, or nil.
        def seed = Native.group_get(__handle, :seed)
        # Sets the seed that the curve was made of.
        def seed=(text)
          Native.group_set(__handle, :seed, text)
        end
        # Whether the group is written by its name: EC::NAMED_CURVE, or EC::EXPLICIT_CURVE.
        def asn1_flag = Native.group_get(__handle, :asn1_flag)
        # Sets whether the group is written by its name.
        def asn1_flag=(flag)
          Native.group_set(__handle, :asn1_flag, flag)
        end
        # How points are written: `:compressed`, `:uncompressed` or `:hybrid`.
        def point_conversion_form = FORMS.key(Native.group_get(__handle, :form))
        # Sets how points are written; ArgumentError for unknown forms.
        def point_conversion_form=(form)
          Native.group_set(__handle, :form, Group.__send__(:__form, form))
        end
        # The generator, an EC::Point, or nil.
        def generator = (h = Native.group_get(__handle, :generator)) && Point.__wrap(self, h)
        # Sets generator, order and cofactor, and answers the group.
        def set_generator(point, order, cofactor)
          Native.group_set_generator(__handle, point.__handle, Given.hex(order), Given.hex(cofactor))
          self
        end
        # The parameters in DER.
        def to_der = Native.group_get(__handle, :der)
        # The parameters in PEM.
        def to_pem = "-----BEGIN EC PARAMETERS-----\n#{[to_der].pack("m48")}-----END EC PARAMETERS-----\n"
        # The parameters as text.
        def to_text = Native.group_get(__handle, :print)
        # The name of the curve.
        def inspect = "#<#{self.class} #{curve_name || "explicit"}>"
      end

      class Point
        class Error < OpenSSLError; end

        def self.__wrap(group, handle)
          point = allocate
          point.__set(group, handle)
          point
        end

        # A point of a group: of bytes or a BN, or without them infinity; or a copy of a point.
        def initialize(group, octets = nil)
          if group.is_a?(Point)
            raise ArgumentError, "unknown type for 2nd arg" if octets
            return __set(group.group, Native.point_new(group.group.__handle, group.to_octet_string(:uncompressed)))
          end
          raise ArgumentError, "unknown type for 1st arg" unless group.is_a?(Group)
          octets = octets.to_s(2) if octets.is_a?(BN)
          __set(group, Native.point_new(group.__handle, octets))
        end

        # The octets are for another VM, which makes the point anew.
        def __set(group, handle)
          @group, @__h = group.dup, handle
          note
        end
        private def note
          @__octets = Native.point_octets(@group.__handle, @__h, 4)
          self
        end

        def initialize_copy(other)
          __set(other.group, Native.point_add(other.group.__handle, other.__handle, Native.point_new(other.group.__handle, nil)))
        end

        # `group`: The group of the point.
        attr_reader :group
        def __handle
          return @__h if Native.alive?(@__h)
          raise Error, "uninitialized point" unless @__octets
          @__h = Native.point_new(@group.__handle, @__octets)
        end
        private def ask(what, other = nil) = Native.point_do(@group.__handle, __handle, what, other)
        # Whether both are the same point of the same group.
        def ==(other) = other.is_a?(Point) && @group == other.group && ask(:eq, other.__handle)
        alias eql? ==
        # Whether it is the point at infinity.
        def infinity? = ask(:infinity?)
        # Whether the point is on the curve.
        def on_curve? = ask(:on_curve?)
        # The point itself.
        def make_affine! = self
        # Mirrors the point itself.
        def invert!
          ask(:invert)
          note
        end
        # Makes the point itself infinity.
        def set_to_infinity!
          ask(:set_to_infinity)
          note
        end
        # The bytes of the point, `:compressed`, `:uncompressed` or `:hybrid`.
        def to_octet_string(form) = Native.point_octets(@group.__handle, __handle, Group.__send__(:__form, form))
        # The bytes of the point as a number.
        def to_bn(form = @group.point_conversion_form) = BN.new(to_octet_string(form), 2)
        # The sum of two points.
        def add(other)
          raise TypeError, "wrong argument type #{other.class} (expected OpenSSL/EC_POINT)" unless other.is_a?(Point)
          Point.__wrap(@group, Native.point_add(@group.__handle, __handle, other.__handle))
        end
        # The point times a number; with `more` the generator times that is added.
        def mul(factor, more = nil)
          raise NotImplementedError, "calling #mul with arrays is not supported" if factor.is_a?(Array)
          raise TypeError, "Cannot convert into OpenSSL::BN" unless factor.respond_to?(:to_bn)
          Point.__wrap(@group, Native.point_mul(@group.__handle, __handle, Given.hex(factor), more && Given.hex(more)))
        end
        # The bytes of the point in hexadecimal digits.
        def inspect = "#<#{self.class} #{to_octet_string(:uncompressed).unpack1("H*")}>"
      end
    end
  end

  module Netscape
    class SPKIError < OpenSSLError; end

    class SPKI
      # A request with a key and a challenge, new or from its text.
      def initialize(source = nil)
        @__h = source ? Native.x_read(:spki, Given.string(source)) : Native.x_new(:spki)
        return unless source
        @__challenge = ASN1.decode(to_der).value[0].value[1].value
        @__key = public_key.public_to_der
      end
      # The public key.
      def public_key = PKey.__wrap(Native.x_key(@__h))
      # Sets the public key.
      def public_key=(key)
        @__key = key.public_to_der
        build
      end
      private def build
        spkac = ASN1::Sequence([ASN1.decode(@__key), ASN1::IA5String(challenge)])
        signature = [ASN1::Sequence([ASN1::ObjectId("sha256WithRSAEncryption"), ASN1::Null(nil)]), ASN1::BitString("")]
        @__h = Native.x_read(:spki, ASN1::Sequence([spkac, *signature]).to_der)
      end
      # The challenge stands in the part that is signed.
      def challenge = @__challenge || ""
      # Sets the challenge.
      def challenge=(text)
        @__challenge = text.to_str
        build if @__key
        text
      end
      # Signs the request, and answers it.
      def sign(key, digest)
        Native.x_sign(@__h, Given.private_key(key), Given.digest(digest))
        self
      end
      # Whether the request is signed by the key.
      def verify(key) = Native.x_verify(@__h, key.__handle)
      # The request in DER.
      def to_der = Native.x_der(@__h)
      # The request in Base64, as HTML forms have it.
      def to_pem = Native.spki_text(@__h)
      alias to_s to_pem
      # The parts of the request as text.
      def to_text = Native.x_text(@__h)
    end
  end
end
