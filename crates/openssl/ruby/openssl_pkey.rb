# OpenSSL::PKey: keys.
module OpenSSL
  module PKey
    class PKeyError < OpenSSLError; end
    %i[RSAError DSAError DHError ECError].each { |name| const_set(name, PKeyError) }

    class << self
      def read(source, password = nil, &block) = __wrap(__read(source, password, &block))

      def generate_key(from, options = nil, &block) = __make(from, options, false, &block)
      def generate_parameters(from, options = nil, &block) = __make(from, options, true, &block)

      def new_raw_private_key(type, data) = __wrap(Native.pkey_raw_new(type, data, true))
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
        key.instance_variable_set(:@h, handle)
        key
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

      def initialize
        raise TypeError, "OpenSSL::PKey::PKey can't be instantiated directly" if instance_of?(PKey)
        raise NotImplementedError, "OpenSSL::PKey::PKey is an abstract class" if instance_of?(PKey)
      end

      def initialize_copy(other)
        @h = other.__handle
      end

      def __handle = @h || raise(PKeyError, "uninitialized key")
      private def pairs(options) = PKey.__send__(:__pairs, options)
      private def __number(name) = Given.bn(Native.pkey_bn(__handle, name))

      TYPES = { "RSA" => "rsaEncryption", "EC" => "id-ecPublicKey", "DH" => "dhKeyAgreement", "DHX" => "dhpublicnumber", "RSA-PSS" => "rsassaPss", "DSA" => "dsaEncryption" }.freeze
      private_constant :TYPES
      def oid
        type = Native.pkey_type(__handle)
        Native.oid(TYPES[type] || type)&.first || type
      end

      def inspect = "#<#{self.class}:0x#{(object_id * 8).to_s(16).rjust(16, "0")} oid=#{oid} type_name=#{Native.pkey_type(__handle)}>"
      def to_text = Native.pkey_print(__handle)
      def private? = !!(Native.pkey_bytes(__handle, "priv") || Native.pkey_bn(__handle, "priv") || Native.pkey_bn(__handle, "d"))
      def public? = true

      def private_to_pem(cipher = nil, password = nil, &block) = pkcs8(:pkcs8_pem, cipher, password, &block)
      def private_to_der(cipher = nil, password = nil, &block) = pkcs8(:pkcs8_der, cipher, password, &block)
      private def pkcs8(form, cipher, password)
        return Native.pkey_write(__handle, form, nil, nil) unless cipher
        password ||= block_given? ? yield(true) : raise(PKeyError, "a password is needed")
        Native.pkey_write(__handle, form, Given.cipher(cipher), password)
      end
      def public_to_pem = Native.pkey_write(__handle, :public_pem, nil, nil)
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
      def raw_private_key = Native.pkey_raw(__handle, true)
      def raw_public_key = Native.pkey_raw(__handle, false)

      # As the type's own classes write themselves.
      private def write_pem(cipher, password)
        return private? ? traditional(:private_pem, cipher, password) { |*a| block_given? ? yield(*a) : nil } : public_to_pem
      end
      private def traditional(form, cipher, password)
        return Native.pkey_write(__handle, form, nil, nil) unless cipher
        password ||= yield(true) || raise(PKeyError, "a password is needed")
        Native.pkey_write(__handle, form, Given.cipher(cipher), password)
      end

      def sign(digest, data, options = nil)
        needs_private
        Native.pkey_digest_sign(__handle, Given.digest(digest), data, nil, pairs(options))
      end
      def verify(digest, signature, data, options = nil) = Native.pkey_digest_sign(__handle, Given.digest(digest), data, signature.to_str, pairs(options))
      def sign_raw(digest, data, options = nil)
        needs_private
        Native.pkey_do(__handle, :sign, Given.digest(digest), data.to_str, nil, pairs(options))
      end
      def verify_raw(digest, signature, data, options = nil) = Native.pkey_do(__handle, :verify, Given.digest(digest), data.to_str, signature.to_str, pairs(options))
      def verify_recover(digest, signature, options = nil) = Native.pkey_do(__handle, :verify_recover, Given.digest(digest), signature.to_str, nil, pairs(options))
      def encrypt(data, options = nil) = Native.pkey_do(__handle, :encrypt, nil, data.to_str, nil, pairs(options))
      def decrypt(data, options = nil) = Native.pkey_do(__handle, :decrypt, nil, data.to_str, nil, pairs(options))
      def derive(peer) = Native.pkey_do(__handle, :derive, nil, peer.is_a?(PKey) ? peer.__handle : raise(TypeError, "wrong argument type #{peer.class} (expected OpenSSL/EVP_PKEY)"), nil, [])
      private def needs_private = private? || raise(PKeyError, "private key is needed")

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
        def generate(size, exponent = 0x10001, &block)
          OpenSSL::PKey.generate_key("RSA", { "rsa_keygen_bits" => Integer(size), "rsa_keygen_pubexp" => exponent.to_i }, &block)
        end

        def new(*args, &block)
          return generate(*args, &block) if args[0].is_a?(Integer)
          super
        end
      end

      def initialize(source = nil, password = nil, &block)
        without_arguments if source.nil?
        text = Given.string(source)
        @h = public_numbers(text) || OpenSSL::PKey.__read(text, password, &block)
        type = Native.pkey_type(@h)
        raise PKeyError, "incorrect pkey type: #{type}" unless type.start_with?("RSA")
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

      PARTS.each { |name, part| define_method(name) { __number(part) } }
      def params = PARTS.to_h { |name, part| [name, __number(part)] }
      def public? = true
      def private? = !!Native.pkey_bn(__handle, "d")
      def public_key = RSA.new(public_to_der)

      def export(cipher = nil, password = nil, &block) = private? ? write_pem(cipher, password, &block) : public_to_pem
      alias to_pem export
      alias to_s export
      def to_der = private? ? Native.pkey_write(__handle, :private_der, nil, nil) : public_to_der

      def set_key(*) = immutable
      def set_factors(*) = immutable
      def set_crt_params(*) = immutable

      private def padding(n) = { "rsa_padding_mode" => PADDINGS[n] || raise(PKeyError, "unsupported padding mode") }

      def private_encrypt(data, mode = PKCS1_PADDING)
        n || raise(PKeyError, "incomplete RSA")
        raise PKeyError, "private key needed." unless private?
        sign_raw(nil, data, padding(mode))
      end
      def public_decrypt(data, mode = PKCS1_PADDING)
        n || raise(PKeyError, "incomplete RSA")
        verify_recover(nil, data, padding(mode))
      end
      def public_encrypt(data, mode = PKCS1_PADDING)
        n || raise(PKeyError, "incomplete RSA")
        encrypt(data, padding(mode))
      end
      def private_decrypt(data, mode = PKCS1_PADDING)
        n || raise(PKeyError, "incomplete RSA")
        raise PKeyError, "private key needed." unless private?
        decrypt(data, padding(mode))
      end

      private def pss(salt_length, mgf1)
        length = case salt_length when :digest, :max, :auto then salt_length.to_s else Integer(salt_length).to_s end
        { "rsa_padding_mode" => "pss", "rsa_pss_saltlen" => length, "rsa_mgf1_md" => Given.digest(mgf1) }
      end
      def sign_pss(digest, data, salt_length:, mgf1_hash:)
        raise PKeyError, "private key needed." unless private?
        sign(digest, data, pss(salt_length, mgf1_hash))
      end
      def verify_pss(digest, signature, data, salt_length:, mgf1_hash:) = verify(digest, signature, data, pss(salt_length, mgf1_hash))
    end

    class DSA < PKey
      include Marshal
      PARTS = { "p" => "p", "q" => "q", "g" => "g", "pub_key" => "pub", "priv_key" => "priv" }.freeze
      private_constant :PARTS

      class << self
        def generate(size, &block)
          params = OpenSSL::PKey.generate_parameters("DSA", { "dsa_paramgen_bits" => Integer(size) }.merge("dsa_paramgen_q_bits" => size >= 2048 ? 256 : 160), &block)
          OpenSSL::PKey.generate_key(params)
        end

        def new(*args, &block)
          return generate(*args, &block) if args[0].is_a?(Integer)
          super
        end
      end

      def initialize(source = nil, password = nil, &block)
        without_arguments if source.nil?
        @h = OpenSSL::PKey.__read(source, password, &block)
        type = Native.pkey_type(@h)
        raise PKeyError, "incorrect pkey type: #{type}" unless type == "DSA"
      end

      PARTS.each { |name, part| define_method(name) { __number(part) } }
      def params = PARTS.to_h { |name, part| [name, __number(part)] }
      def public? = !!Native.pkey_bn(__handle, "pub")
      def private? = !!Native.pkey_bn(__handle, "priv")
      def public_key = DSA.new(public_to_der)

      def export(cipher = nil, password = nil, &block)
        return write_pem(cipher, password, &block) if private?
        public? ? public_to_pem : Native.pkey_write(__handle, :parameters_pem, nil, nil)
      end
      alias to_pem export
      alias to_s export
      def to_der
        return Native.pkey_write(__handle, :private_der, nil, nil) if private?
        public? ? public_to_der : Native.pkey_write(__handle, :parameters_der, nil, nil)
      end

      def syssign(string)
        q || raise(PKeyError, "incomplete DSA")
        raise PKeyError, "Private DSA key needed!" unless private?
        sign_raw(nil, string)
      end
      def sysverify(digest, signature) = verify_raw(nil, signature, digest)
      def set_key(*) = immutable
      def set_pqg(*) = immutable
    end

    class DH < PKey
      include Marshal
      PARTS = { "p" => "p", "q" => "q", "g" => "g", "pub_key" => "pub", "priv_key" => "priv" }.freeze
      private_constant :PARTS

      class << self
        def generate(size, generator = 2, &block)
          params = OpenSSL::PKey.generate_parameters("DH", { "dh_paramgen_prime_len" => Integer(size), "dh_paramgen_generator" => Integer(generator) }, &block)
          OpenSSL::PKey.generate_key(params)
        end

        def new(*args, &block)
          return generate(*args, &block) if args[0].is_a?(Integer)
          super
        end
      end

      def initialize(source = nil, &block)
        without_arguments if source.nil?
        @h = OpenSSL::PKey.__read(source, nil, &block)
        type = Native.pkey_type(@h)
        raise PKeyError, "incorrect pkey type: #{type}" unless type.start_with?("DH")
      end

      PARTS.each { |name, part| define_method(name) { __number(part) } }
      def params = %w[p q g pub_key priv_key].to_h { |name| [name, __number(PARTS[name])] }
      def public? = !!Native.pkey_bn(__handle, "pub")
      def private? = !!Native.pkey_bn(__handle, "priv")
      def public_key = DH.new(to_der)
      def export = Native.pkey_write(__handle, :parameters_pem, nil, nil)
      alias to_pem export
      alias to_s export
      def to_der = Native.pkey_write(__handle, :parameters_der, nil, nil)
      def params_ok? = Native.pkey_check(__handle, :param)

      def compute_key(public)
        public = public.to_i
        parts = [["p", :bn, Given.hex(p)], ["g", :bn, Given.hex(g)], ["pub", :bn, public.to_s(16)]]
        parts << ["q", :bn, Given.hex(q)] if q
        peer = Native.pkey_build(Native.pkey_type(__handle), parts, 0x86)
        Native.pkey_do(__handle, :derive, nil, peer, nil, [["dh_pad", "0"]])
      end
      def generate_key! = raise(PKeyError, "DH is immutable on OpenSSL 3.0; use OpenSSL::PKey.generate_key instead")
      def set_key(*) = immutable
      def set_pqg(*) = immutable
    end

    class EC < PKey
      include Marshal
      EXPLICIT_CURVE, NAMED_CURVE = 0, 1

      class << self
        def builtin_curves = Native.curves.each_slice(2).to_a
        def generate(group, &block)
          begin
            group = Group.new(group) unless group.is_a?(Group)
          rescue Group::Error => e
            raise PKeyError, e.message
          end
          OpenSSL::PKey.generate_key(OpenSSL::PKey.__wrap(Native.pkey_read(group.to_der, nil)), &block)
        end
      end

      def initialize(source = nil, password = nil, &block)
        case source
        when nil then without_arguments
        when EC then return @h = source.__handle
        when Group then return @h = Native.pkey_read(source.to_der, nil)
        end
        text = Given.string(source)
        if !text.include?("\0") && text.bytesize < 64 && Native.oid(text) && (group = Native.group_new(text))
          @h = Native.pkey_read(Native.group_get(group, :der), nil)
        else
          @h = OpenSSL::PKey.__read(text, password, &block)
          type = Native.pkey_type(@h)
          raise PKeyError, "incorrect pkey type: #{type}" unless type == "EC" || type == "SM2"
        end
      end

      def group = @group ||= Group.new(Native.pkey_write(__handle, :parameters_der, nil, nil))
      def private_key = __number("priv")
      def public_key
        octets = Native.pkey_bytes(__handle, "pub")
        octets && Point.new(group, octets)
      end
      def public? = !!Native.pkey_bytes(__handle, "pub")
      def private? = !!Native.pkey_bn(__handle, "priv")
      alias public_key? public?
      alias private_key? private?
      def group=(_)
        immutable
      end
      def public_key=(_)
        immutable
      end
      def private_key=(_)
        immutable
      end
      def generate_key! = immutable
      alias generate_key generate_key!

      def export(cipher = nil, password = nil, &block)
        raise PKeyError, "can't export - no public key set" unless public? || private?
        private? ? write_pem(cipher, password, &block) : public_to_pem
      end
      alias to_pem export
      alias to_s export
      def to_der
        raise PKeyError, "can't export - no public key set" unless public? || private?
        private? ? Native.pkey_write(__handle, :private_der, nil, nil) : public_to_der
      end
      def check_key = Native.pkey_check(__handle, private? ? :pair : :public) || raise(PKeyError, "EVP_PKEY_check: invalid key")

      def dsa_sign_asn1(data) = sign_raw(nil, data)
      def dsa_verify_asn1(data, signature) = verify_raw(nil, signature, data)
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

        def initialize(source, p = nil, a = nil, b = nil)
          raise ArgumentError, "wrong number of arguments (given #{1 + [p, a, b].compact.size}, expected 1 or 4)" if p && !b
          @h =
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
          @h = Native.dup(other.__handle)
        end

        def __handle = @h || raise(Error, "uninitialized group")
        def ==(other) = other.is_a?(Group) && Native.group_eq(__handle, other.__handle)
        alias eql? ==
        def curve_name = Native.group_get(__handle, :name)
        def order = Given.bn(Native.group_get(__handle, :order))
        def cofactor = Given.bn(Native.group_get(__handle, :cofactor))
        def degree = Native.group_get(__handle, :degree)
        def seed = Native.group_get(__handle, :seed)
        def seed=(text)
          Native.group_set(__handle, :seed, text)
        end
        def asn1_flag = Native.group_get(__handle, :asn1_flag)
        def asn1_flag=(flag)
          Native.group_set(__handle, :asn1_flag, flag)
        end
        def point_conversion_form = FORMS.key(Native.group_get(__handle, :form))
        def point_conversion_form=(form)
          Native.group_set(__handle, :form, Group.__send__(:__form, form))
        end
        def generator = (h = Native.group_get(__handle, :generator)) && Point.__wrap(self, h)
        def set_generator(point, order, cofactor)
          Native.group_set_generator(__handle, point.__handle, Given.hex(order), Given.hex(cofactor))
          self
        end
        def to_der = Native.group_get(__handle, :der)
        def to_pem = "-----BEGIN EC PARAMETERS-----\n#{[to_der].pack("m48")}-----END EC PARAMETERS-----\n"
        def to_text = Native.group_get(__handle, :print)
        def inspect = "#<#{self.class} #{curve_name || "explicit"}>"
      end

      class Point
        class Error < OpenSSLError; end

        def self.__wrap(group, handle)
          point = allocate
          point.__set(group, handle)
          point
        end

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
          @group, @h = group.dup, handle
          note
        end
        private def note
          @octets = Native.point_octets(@group.__handle, @h, 4)
          self
        end

        def initialize_copy(other)
          __set(other.group, Native.point_add(other.group.__handle, other.__handle, Native.point_new(other.group.__handle, nil)))
        end

        attr_reader :group
        def __handle
          return @h if Native.alive?(@h)
          raise Error, "uninitialized point" unless @octets
          @h = Native.point_new(@group.__handle, @octets)
        end
        private def ask(what, other = nil) = Native.point_do(@group.__handle, __handle, what, other)
        def ==(other) = other.is_a?(Point) && @group == other.group && ask(:eq, other.__handle)
        alias eql? ==
        def infinity? = ask(:infinity?)
        def on_curve? = ask(:on_curve?)
        def make_affine! = self
        def invert!
          ask(:invert)
          note
        end
        def set_to_infinity!
          ask(:set_to_infinity)
          note
        end
        def to_octet_string(form) = Native.point_octets(@group.__handle, __handle, Group.__send__(:__form, form))
        def to_bn(form = @group.point_conversion_form) = BN.new(to_octet_string(form), 2)
        def add(other)
          raise TypeError, "wrong argument type #{other.class} (expected OpenSSL/EC_POINT)" unless other.is_a?(Point)
          Point.__wrap(@group, Native.point_add(@group.__handle, __handle, other.__handle))
        end
        def mul(factor, more = nil)
          raise NotImplementedError, "calling #mul with arrays is not supported" if factor.is_a?(Array)
          raise TypeError, "Cannot convert into OpenSSL::BN" unless factor.respond_to?(:to_bn)
          Point.__wrap(@group, Native.point_mul(@group.__handle, __handle, Given.hex(factor), more && Given.hex(more)))
        end
        def inspect = "#<#{self.class} #{to_octet_string(:uncompressed).unpack1("H*")}>"
      end
    end
  end

  module Netscape
    class SPKIError < OpenSSLError; end

    class SPKI
      def initialize(source = nil)
        @h = source ? Native.x_read(:spki, Given.string(source)) : Native.x_new(:spki)
        return unless source
        @challenge = ASN1.decode(to_der).value[0].value[1].value
        @key = public_key.public_to_der
      end
      def public_key = PKey.__wrap(Native.x_key(@h))
      def public_key=(key)
        @key = key.public_to_der
        build
      end
      private def build
        spkac = ASN1::Sequence([ASN1.decode(@key), ASN1::IA5String(challenge)])
        signature = [ASN1::Sequence([ASN1::ObjectId("sha256WithRSAEncryption"), ASN1::Null(nil)]), ASN1::BitString("")]
        @h = Native.x_read(:spki, ASN1::Sequence([spkac, *signature]).to_der)
      end
      # The challenge stands in the part that is signed.
      def challenge = @challenge || ""
      def challenge=(text)
        @challenge = text.to_str
        build if @key
        text
      end
      def sign(key, digest)
        Native.x_sign(@h, key.__handle, Given.digest(digest))
        self
      end
      def verify(key) = Native.x_verify(@h, key.__handle)
      def to_der = Native.x_der(@h)
      def to_pem = Native.spki_text(@h)
      alias to_s to_pem
      def to_text = Native.x_text(@h)
    end
  end
end
