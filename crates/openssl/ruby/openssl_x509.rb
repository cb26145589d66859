# OpenSSL::X509: names, extensions, certificates, requests, lists of revoked ones.
module OpenSSL
  module X509
    class NameError < OpenSSLError; end
    class ExtensionError < OpenSSLError; end
    class CertificateError < OpenSSLError; end
    class RequestError < OpenSSLError; end
    class CRLError < OpenSSLError; end
    class RevokedError < OpenSSLError; end
    class AttributeError < OpenSSLError; end
    class StoreError < OpenSSLError; end

    DEFAULT_CERT_FILE, DEFAULT_CERT_DIR, DEFAULT_CERT_FILE_ENV, DEFAULT_CERT_DIR_ENV, DEFAULT_CERT_AREA, DEFAULT_PRIVATE_DIR = Native.defaults

    class Name
      include Marshal
      include Comparable

      COMPAT, RFC2253, ONELINE, MULTILINE = 0, 17892119, 8520479, 44302342
      DEFAULT_OBJECT_TYPE = ASN1::UTF8STRING
      OBJECT_TYPE_TEMPLATE = Hash.new(ASN1::UTF8STRING).update(
        "C" => ASN1::PRINTABLESTRING, "countryName" => ASN1::PRINTABLESTRING, "serialNumber" => ASN1::PRINTABLESTRING,
        "dnQualifier" => ASN1::PRINTABLESTRING, "DC" => ASN1::IA5STRING, "domainComponent" => ASN1::IA5STRING, "emailAddress" => ASN1::IA5STRING
      ).freeze

      # Names as RFC 2253 writes them.
      module RFC2253DN
        module_function

        def scan(text)
          found, rest = [], text
          until rest.empty?
            here = rest
            malformed = -> { raise ArgumentError, "malformed RDN: #{text} =>#{here}" }
            field = rest[/\A[ \n\r]*(?:OID\.)?([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)[ ]*=[ ]*/] || malformed.call
            name, rest = $1, rest[field.size..]
            if rest.start_with?("#")
              hex = rest[/\A#((?:\h\h)+)/] || malformed.call
              data = begin
                ASN1.decode([hex[1..]].pack("H*"))
              rescue ASN1::ASN1Error
                malformed.call
              end
              value, type = data.value, data.tag
              rest = rest[hex.size..]
            elsif rest.start_with?("\"")
              quoted = rest[/\A"(?:\\.|[^"\\])*"/m] || malformed.call
              value, rest = unescape(quoted[1..-2]), rest[quoted.size..]
            else
              plain = rest[/\A(?:\\\h\h|\\.|[^,+\\"<>;=#])*/m]
              value, rest = unescape(plain.sub(/(?<!\\) +\z/, "")), rest[plain.size..]
            end
            found << [name, value, *type]
            type = nil
            rest = rest.sub(/\A\s+/, "")
            break if rest.empty?
            raise ArgumentError, "multi-valued RDN is not supported: #{text}" if rest.start_with?("+")
            malformed.call if !rest.start_with?(",", ";") || rest.size == 1
            rest = rest[1..]
          end
          found.reverse
        end

        def unescape(text) = text.b.gsub(/\\(\h\h|.)/mn) { $1.size == 2 ? $1.hex.chr : $1 }.force_encoding(text.encoding)
      end

      class << self
        def __wrap(handle)
          name = allocate
          name.instance_variable_set(:@h, handle)
          name
        end

        # "CN=a\, b,O=c", the last entry first (RFC 2253).
        def parse_rfc2253(text, template = OBJECT_TYPE_TEMPLATE) = new(RFC2253DN.scan(text), template)

        # "/O=c/CN=a" or "CN=a, O=c".
        def parse_openssl(text, template = OBJECT_TYPE_TEMPLATE)
          parts = text.start_with?("/") ? text[1..].split(/\/(?=[^\/=]+=)/) : text.split(/,\s*/)
          new(parts.map { |part| part.include?("=") ? part.split("=", 2) : raise(TypeError, "invalid OpenSSL::X509::Name input") }, template)
        end
        alias parse parse_openssl
      end

      def initialize(source = nil, template = OBJECT_TYPE_TEMPLATE)
        if source.nil? || source.is_a?(Array)
          @h = Native.x_new(:name)
          source&.each { |entry| (entry.is_a?(Array) ? entry : raise(TypeError, "wrong argument type #{entry.class} (expected Array)")).then { |field, value, type| add_entry(field, value, type || template[field]) } }
        else
          @h = Native.x_read(:name, Given.string(source))
        end
      end

      def initialize_copy(other)
        @h = Native.dup(other.__handle)
      end

      def __handle = @h || raise(NameError, "uninitialized name")

      def add_entry(field, value, type = nil, loc: -1, set: 0)
        raise FrozenError, "can't modify frozen #{self.class}: #{inspect}" if frozen?
        Native.name_add(__handle, field.to_str, value.to_str, type.nil? ? OBJECT_TYPE_TEMPLATE[field] : type, loc, set)
        self
      end

      def to_a = Native.name_entries(__handle)
      def to_der = Native.x_der(__handle)

      def to_s(format = nil)
        return Native.name_line(__handle) if format.nil?
        text = Native.name_print(__handle, format)
        text.force_encoding(format & 4 != 0 && format != COMPAT ? "US-ASCII" : "UTF-8").then { |s| s.valid_encoding? ? s : s.b }
      end
      def to_utf8 = Native.name_print(__handle, RFC2253 & ~4).force_encoding("UTF-8")
      def inspect = "#<#{self.class} #{to_utf8}>"
      def pretty_print(q) = q.object_group(self) { q.text(" #{to_utf8}") }

      def cmp(other) = other.is_a?(Name) ? Native.name_cmp(__handle, other.__handle) : nil
      alias <=> cmp
      def eql?(other) = other.is_a?(Name) && cmp(other) == 0
      def hash = Native.name_hash(__handle, false)
      def hash_old = Native.name_hash(__handle, true)
    end

    class Extension
      include Marshal

      def self.__wrap(handle)
        extension = allocate
        extension.instance_variable_set(:@h, handle)
        extension
      end

      def initialize(oid, value = (der = true; nil), critical = false)
        @h = der ? Native.x_read(:extension, Given.string(oid)) : Native.extension_new(oid.to_str, bytes_of(value), critical ? true : false)
      end

      private def bytes_of(value) = value.is_a?(ASN1::ASN1Data) ? value.to_der : Given.string(value)

      def initialize_copy(other)
        @h = Native.dup(other.__handle)
      end

      def __handle = @h || raise(ExtensionError, "uninitialized extension")
      private def parts = Native.extension_parts(__handle)
      def oid = parts[0]
      def value_der = parts[1]
      def critical? = parts[2]
      def value = parts[3]
      def oid=(oid)
        set(oid.to_str, value_der, critical?)
      end
      def value=(value)
        set(oid, bytes_of(value), critical?)
      end
      def critical=(critical)
        set(oid, value_der, critical ? true : false)
      end
      private def set(*parts)
        @h = Native.extension_new(*parts)
      end

      def to_der = Native.x_der(__handle)
      def ==(other) = other.is_a?(Extension) && to_der == other.to_der
      def to_a = [oid, value, critical?]
      def to_h = { "oid" => oid, "value" => value, "critical" => critical? }
      def to_s = "#{oid} = #{"critical, " if critical?}#{value}"
      def inspect = "#<#{self.class} #{self}>"

      module Helpers
        def find_extension(oid) = extensions.find { |e| e.oid == oid }
      end

      module SubjectKeyIdentifier
        include Helpers
        def subject_key_identifier
          extension = find_extension("subjectKeyIdentifier") or return nil
          data = ASN1.decode(extension.value_der)
          raise ASN1::ASN1Error, "invalid extension" if extension.critical? || data.tag_class != :UNIVERSAL || data.tag != ASN1::OCTET_STRING
          data.value
        end
      end

      module AuthorityKeyIdentifier
        include Helpers
        def authority_key_identifier
          extension = find_extension("authorityKeyIdentifier") or return nil
          data = ASN1.decode(extension.value_der)
          raise ASN1::ASN1Error, "invalid extension" if extension.critical? || data.tag_class != :UNIVERSAL || data.tag != ASN1::SEQUENCE
          data.value.find { |part| part.tag_class == :CONTEXT_SPECIFIC && part.tag == 0 }&.value
        end
      end

      module CRLDistributionPoints
        include Helpers
        def crl_uris
          extension = find_extension("crlDistributionPoints") or return nil
          data = ASN1.decode(extension.value_der)
          raise ASN1::ASN1Error, "invalid extension" if data.tag_class != :UNIVERSAL || data.tag != ASN1::SEQUENCE
          tagged = ->(parts, tag) { parts.find { |part| part.tag_class == :CONTEXT_SPECIFIC && part.tag == tag } }
          data.value.flat_map do |point|
            name = tagged.(point.value, 0) or next []
            full = tagged.(name.value, 0) or next []
            full.value.select { |general| general.tag_class == :CONTEXT_SPECIFIC && general.tag == 6 }.map(&:value)
          end.then { |uris| uris.empty? ? nil : uris }
        end
      end

      module AuthorityInfoAccess
        include Helpers
        def ca_issuer_uris = access_uris("caIssuers")
        def ocsp_uris = access_uris("OCSP")

        private def access_uris(method)
          extension = find_extension("authorityInfoAccess") or return nil
          data = ASN1.decode(extension.value_der)
          raise ASN1::ASN1Error, "invalid extension" if extension.critical? || data.tag_class != :UNIVERSAL || data.tag != ASN1::SEQUENCE
          uris = data.value.select { |access| access.value[0].value == method }.map { |access| access.value[1] }.select { |general| general.tag == 6 }.map(&:value)
          uris.empty? ? nil : uris
        end
      end
    end

    class ExtensionFactory
      attr_accessor :issuer_certificate, :subject_certificate, :subject_request, :crl, :config

      def initialize(issuer = nil, subject = nil, request = nil, crl = nil)
        @issuer_certificate, @subject_certificate, @subject_request, @crl = issuer, subject, request, crl
      end

      { issuer_certificate: :Certificate, subject_certificate: :Certificate, subject_request: :Request, crl: :CRL }.each do |name, type|
        define_method(:"#{name}=") do |object|
          raise TypeError, "wrong argument type #{object.class} (expected OpenSSL/X509)" unless object.is_a?(X509.const_get(type))
          instance_variable_set(:"@#{name}", object)
        end
      end

      def create_ext(oid, value, critical = false)
        value = "critical, #{value}" if critical
        handles = [@issuer_certificate, @subject_certificate, @subject_request, @crl].map { |object| object&.__handle }
        Extension.__wrap(Native.extension_create(oid.to_str, value.to_str, *handles, @config&.to_s))
      end
      def create_extension(*arg)
        return create_ext(*arg) if arg.size > 1
        case arg = arg[0]
        when Array then create_ext_from_array(arg)
        when String then create_ext_from_string(arg)
        when Hash then create_ext_from_hash(arg)
        else raise TypeError, "unexpected argument type: #{arg.class}"
        end
      end
      def create_ext_from_array(parts)
        raise ExtensionError, "unexpected array form" if parts.size > 3
        create_ext(*parts)
      end
      def create_ext_from_string(text)
        oid, value = text.split("=", 2).map(&:strip)
        raise ExtensionError, "string must be in the format \"oid = value\"" unless value
        create_ext(oid, value)
      end
      def create_ext_from_hash(hash) = create_ext(hash["oid"], hash["value"], hash["critical"])
    end

    # What certificates, requests and lists have in common.
    module Signed
      module Wrapping
        def __wrap(handle)
          object = allocate
          object.instance_variable_set(:@h, handle)
          object
        end
      end
      def self.included(base) = base.extend(Wrapping)

      def initialize(source = nil)
        @h = source.nil? ? Native.x_new(kind) : Native.x_read(kind, Given.string(source))
      end

      def initialize_copy(other)
        @h = Native.dup(other.__handle)
      end

      def __handle = @h || raise(error, "uninitialized #{self.class}")
      def to_der = Native.x_der(__handle)
      def to_pem = Native.x_pem(__handle)
      alias to_s to_pem
      def to_text = Native.x_text(__handle)
      def ==(other) = other.is_a?(self.class) && to_der == other.to_der
      def version = Native.x_version(__handle)
      def version=(n)
        raise error, "version must be >= 0!" if Integer(n) < 0
        Native.x_set_version(__handle, Integer(n))
      end
      def signature_algorithm = Native.x_algorithm(__handle, false)[1]
      def sign(key, digest)
        raise TypeError, "wrong argument type #{key.class} (expected OpenSSL/EVP_PKEY)" unless key.is_a?(PKey::PKey)
        raise ArgumentError, "Private key is needed." unless key.private?
        Native.x_sign(__handle, key.__handle, Given.digest(digest))
        self
      end
      def verify(key) = Native.x_verify(__handle, key.is_a?(PKey::PKey) ? key.__handle : raise(TypeError, "wrong argument type #{key.class} (expected OpenSSL/EVP_PKEY)"))

      private def name_of(which) = Name.__wrap(Native.x_name(__handle, which))
      private def set_name(which, name)
        raise TypeError, "wrong argument type #{name.class} (expected OpenSSL/X509/NAME)" unless name.is_a?(Name)
        Native.x_set_name(__handle, which, name.__handle)
      end
      private def time_at(which)
        text = Native.x_time(__handle, which) or return nil
        Time.utc(*text.match(/\A(\d{4,})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/).captures.map(&:to_i))
      end
      private def set_time(which, time)
        time = time.to_time if !time.is_a?(Time) && time.respond_to?(:to_time)
        Native.x_set_time(__handle, which, time.is_a?(Time) ? time.to_i : Integer(time))
      end
    end
    private_constant :Signed

    module Extended
      def extensions = Native.x_extensions(__handle).map { |h| Extension.__wrap(h) }
      def extensions=(list)
        list = list.to_ary
        list.each { |e| raise TypeError, "wrong argument type #{e.class} (expected OpenSSL/X509/EXT)" unless e.is_a?(Extension) }
        Native.x_clear_extensions(__handle)
        list.each { |e| Native.x_add_extension(__handle, e.__handle) }
      end
      def add_extension(extension)
        raise TypeError, "wrong argument type #{extension.class} (expected OpenSSL/X509/EXT)" unless extension.is_a?(Extension)
        Native.x_add_extension(__handle, extension.__handle)
        extension
      end
    end
    private_constant :Extended

    class Certificate
      private def kind = :cert
      private def error = CertificateError
      include Marshal
      include Extended
      include Signed
      include Extension::SubjectKeyIdentifier
      include Extension::AuthorityKeyIdentifier
      include Extension::CRLDistributionPoints
      include Extension::AuthorityInfoAccess

      class << self
        def load(text) = Native.x_read_all(Given.string(text)).map { |h| __wrap(h) }
        def load_file(path) = load(File.binread(path))
      end

      def serial = Given.bn(Native.x_serial(__handle))
      def serial=(n)
        Native.x_set_serial(__handle, Given.hex(n))
      end
      def subject = name_of(:subject)
      def issuer = name_of(:issuer)
      def subject=(name)
        set_name(:subject, name)
      end
      def issuer=(name)
        set_name(:issuer, name)
      end
      def not_before = time_at(0)
      def not_after = time_at(1)
      def not_before=(time)
        set_time(0, time)
      end
      def not_after=(time)
        set_time(1, time)
      end
      def public_key = PKey.__wrap(Native.x_key(__handle))
      def public_key=(key)
        Native.x_set_key(__handle, key.is_a?(PKey::PKey) ? key.__handle : raise(TypeError, "wrong argument type #{key.class} (expected OpenSSL/EVP_PKEY)"))
      end
      def check_private_key(key) = Native.x_check_key(__handle, key.__handle)
      def tbs_bytes = Native.x_tbs(__handle)
      def signature_algorithm = super
      def inspect = "#<#{self.class}: subject=#{subject.inspect}, issuer=#{issuer.inspect}, serial=#{serial.inspect}, not_before=#{not_before.inspect}, not_after=#{not_after.inspect}>"
      def pretty_print(q)
        q.object_group(self) do
          q.breakable
          q.text "subject="
          q.pp subject
          q.text ","
          q.breakable
          q.text "issuer="
          q.pp issuer
        end
      end
    end

    class Attribute
      include Marshal

      def initialize(oid, value = (der = true; nil))
        if der
          data = ASN1.decode(Given.string(oid))
          @oid, @value = data.value[0].value, data.value[1]
        else
          raise ASN1::ASN1Error, "invalid OID" unless oid.match?(/\A\d+(\.\d+)+\z/) || Native.oid(oid)
          self.oid = oid
          self.value = value if value
        end
      end

      def oid = @oid && (Native.oid(@oid)&.first || @oid)
      def oid=(oid)
        raise AttributeError, "OBJ_txt2obj: unknown object name" unless oid.match?(/\A\d+(\.\d+)+\z/) || Native.oid(oid)
        @oid = oid
      end
      attr_reader :value
      def value=(value)
        raise TypeError, "no implicit conversion" unless value.respond_to?(:to_der)
        data = ASN1.decode(value.to_der)
        raise AttributeError, "X509_ATTRIBUTE_create: expected a SET" unless data.is_a?(ASN1::Set)
        @value = data
      end
      def to_der = ASN1::Sequence([ASN1::ObjectId(@oid), @value || ASN1::Set([])]).to_der
      def ==(other) = other.is_a?(Attribute) && to_der == other.to_der
    end

    class Request
      private def kind = :request
      private def error = RequestError
      include Marshal
      include Signed

      def subject = name_of(:subject)
      def subject=(name)
        set_name(:subject, name)
      end
      def public_key = PKey.__wrap(Native.x_key(__handle))
      def public_key=(key)
        Native.x_set_key(__handle, key.__handle)
      end
      def attributes = Native.x_parts(__handle).map { |der| Attribute.new(der) }
      def attributes=(list)
        list.to_ary.each { |a| raise TypeError, "wrong argument type #{a.class} (expected OpenSSL/X509/ATTR)" unless a.is_a?(Attribute) }
        Native.x_clear_parts(__handle)
        list.each { |a| add_attribute(a) }
      end
      def add_attribute(attribute)
        Native.x_add_part(__handle, attribute.to_der)
        attribute
      end
    end

    class Revoked
      def initialize(der = nil)
        @serial, @time, @extensions = BN.new(0), nil, []
        return unless der
        parts = ASN1.decode(Given.string(der)).value
        @serial, @time = parts[0].value, parts[1].value
        @extensions = parts[2] ? parts[2].value.map { |e| Extension.new(e.to_der) } : []
      end

      attr_reader :serial, :time
      def serial=(n)
        @serial = BN.new(Integer(n.to_i))
      end
      def time=(time)
        @time = Time.at(time.to_i).utc
      end
      def extensions = @extensions.dup
      def extensions=(list)
        list.each { |e| raise TypeError, "wrong argument type #{e.class} (expected OpenSSL/X509/EXT)" unless e.is_a?(Extension) }
        @extensions = list.dup
      end
      def add_extension(extension)
        @extensions << extension
        extension
      end
      def to_der
        time = @time || Time.at(0).utc
        parts = [ASN1::Integer(@serial), time.year < 2050 ? ASN1::UTCTime(time) : ASN1::GeneralizedTime(time)]
        parts << ASN1::Sequence(@extensions) unless @extensions.empty?
        ASN1::Sequence(parts).to_der
      end
      def ==(other) = other.is_a?(Revoked) && to_der == other.to_der
    end

    class CRL
      private def kind = :crl
      private def error = CRLError
      include Marshal
      include Extended
      include Signed
      include Extension::AuthorityKeyIdentifier

      def issuer = name_of(:issuer)
      def issuer=(name)
        set_name(:issuer, name)
      end
      def last_update = time_at(0)
      def next_update = time_at(1)
      def last_update=(time)
        set_time(0, time)
      end
      def next_update=(time)
        set_time(1, time)
      end
      def revoked = Native.x_parts(__handle).map { |der| Revoked.new(der) }
      def revoked=(list)
        list.to_ary.each { |r| raise TypeError, "wrong argument type #{r.class} (expected OpenSSL/X509/REV)" unless r.is_a?(Revoked) }
        Native.x_clear_parts(__handle)
        list.each { |r| add_revoked(r) }
      end
      def by_serial(serial)
        raise TypeError, "Cannot convert into OpenSSL::BN" if serial.nil?
        serial = BN.new(serial)
        revoked.find { |r| r.serial == serial }
      end
      def add_revoked(revoked)
        Native.x_add_part(__handle, revoked.to_der)
        revoked
      end
    end
  end
end
