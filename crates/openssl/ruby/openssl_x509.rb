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

        # The entries of a name as RFC 2253 writes it; ArgumentError if it is wrong.
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

        # The text that was escaped.
        def unescape(text) = text.b.gsub(/\\(\h\h|.)/mn) { $1.size == 2 ? $1.hex.chr : $1 }.force_encoding(text.encoding)
      end

      class << self
        def __wrap(handle)
          name = allocate
          name.__take(handle)
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

      # A name of entries `[field, value]` or `[field, value, type]`, or one in DER.
      #
      #     OpenSSL::X509::Name.new([["O", "Example"], ["CN", "a"]]).to_s   #=> "/O=Example/CN=a"
      def initialize(source = nil, template = OBJECT_TYPE_TEMPLATE)
        if source.nil? || source.is_a?(Array)
          @__h = Native.x_new(:name)
          source&.each { |entry| (entry.is_a?(Array) ? entry : raise(TypeError, "wrong argument type #{entry.class} (expected Array)")).then { |field, value, type| add_entry(field, value, type || template[field]) } }
        else
          @__h = Native.x_read(:name, Given.string(source))
        end
      end

      def initialize_copy(other)
        @__h = Native.dup(other.__handle)
      end

      def __handle = @__h || raise(NameError, "uninitialized name")
      def __take(handle)
        @__h = handle
        self
      end

      # Adds an entry at the end, or at the place `loc`, and answers the name.
      def add_entry(field, value, type = nil, loc: -1, set: 0)
        raise FrozenError, "can't modify frozen #{self.class}: #{inspect}" if frozen?
        Native.name_add(__handle, field.to_str, value.to_str, type.nil? ? OBJECT_TYPE_TEMPLATE[field] : type, loc, set)
        self
      end

      # The entries: `[field, value, type]`.
      def to_a = Native.name_entries(__handle)
      # The name in DER.
      def to_der = Native.x_der(__handle)

      # The name as "/O=c/CN=a", or in the form of RFC2253, ONELINE or MULTILINE.
      def to_s(format = nil)
        return Native.name_line(__handle) if format.nil?
        text = Native.name_print(__handle, format)
        text.force_encoding(format & 4 != 0 && format != COMPAT ? "US-ASCII" : "UTF-8").then { |s| s.valid_encoding? ? s : s.b }
      end
      # The name in the form of RFC 2253, in UTF-8.
      def to_utf8 = Native.name_print(__handle, RFC2253 & ~4).force_encoding("UTF-8")
      # The class and the name.
      def inspect = "#<#{self.class} #{to_utf8}>"
      # What `pp` prints.
      def pretty_print(q) = q.object_group(self) { q.text(" #{to_utf8}") }

      # Compares names: -1, 0, 1; nil for other objects.
      def cmp(other) = other.is_a?(Name) ? Native.name_cmp(__handle, other.__handle) : nil
      alias <=> cmp
      # Whether the other is an equal name.
      def eql?(other) = other.is_a?(Name) && cmp(other) == 0
      # The number by which files of certificates are found: of a digest of the name.
      def hash = Native.name_hash(__handle, false)
      # The number by which OpenSSL before 1.0 found files of certificates.
      def hash_old = Native.name_hash(__handle, true)
    end

    class Extension
      include Marshal

      def self.__wrap(handle)
        extension = allocate
        extension.__take(handle)
      end

      # An extension of a name and a value (bytes or ASN.1), or one in DER.
      def initialize(oid, value = (der = true; nil), critical = false)
        @__h = der ? Native.x_read(:extension, Given.string(oid)) : Native.extension_new(oid.to_str, bytes_of(value), critical ? true : false)
      end

      private def bytes_of(value) = value.is_a?(ASN1::ASN1Data) ? value.to_der : Given.string(value)

      def initialize_copy(other)
        @__h = Native.dup(other.__handle)
      end

      def __handle = @__h || raise(ExtensionError, "uninitialized extension")
      def __take(handle)
        @__h = handle
        self
      end
      private def parts = Native.extension_parts(__handle)
      # The name of the extension: "subjectAltName".
      def oid = parts[0]
      # The bytes of the value.
      def value_der = parts[1]
      # Whether who does not know the extension has to refuse the certificate.
      def critical? = parts[2]
      # The value as text.
      def value = parts[3]
      # Sets the name.
      def oid=(oid)
        set(oid.to_str, value_der, critical?)
      end
      # Sets the bytes of the value.
      def value=(value)
        set(oid, bytes_of(value), critical?)
      end
      # Sets whether it is critical.
      def critical=(critical)
        set(oid, value_der, critical ? true : false)
      end
      private def set(*parts)
        @__h = Native.extension_new(*parts)
      end

      # The extension in DER.
      def to_der = Native.x_der(__handle)
      # Whether both are equal in DER.
      def ==(other) = other.is_a?(Extension) && to_der == other.to_der
      # `[oid, value, critical]`
      def to_a = [oid, value, critical?]
      # A Hash of "oid", "value" and "critical".
      def to_h = { "oid" => oid, "value" => value, "critical" => critical? }
      # The extension as "name = value".
      def to_s = "#{oid} = #{"critical, " if critical?}#{value}"
      # The class and the extension.
      def inspect = "#<#{self.class} #{self}>"

      module Helpers
        # The extension of this name, or nil.
        def find_extension(oid) = extensions.find { |e| e.oid == oid }
      end

      module SubjectKeyIdentifier
        include Helpers
        # The bytes by which the key is known, or nil; ASN1Error if the extension is wrong.
        def subject_key_identifier
          extension = find_extension("subjectKeyIdentifier") or return nil
          data = ASN1.decode(extension.value_der)
          raise ASN1::ASN1Error, "invalid extension" if extension.critical? || data.tag_class != :UNIVERSAL || data.tag != ASN1::OCTET_STRING
          data.value
        end
      end

      module AuthorityKeyIdentifier
        include Helpers
        # The bytes by which the issuer's key is known, or nil; ASN1Error if the extension is wrong.
        def authority_key_identifier
          extension = find_extension("authorityKeyIdentifier") or return nil
          data = ASN1.decode(extension.value_der)
          raise ASN1::ASN1Error, "invalid extension" if extension.critical? || data.tag_class != :UNIVERSAL || data.tag != ASN1::SEQUENCE
          data.value.find { |part| part.tag_class == :CONTEXT_SPECIFIC && part.tag == 0 }&.value
        end
      end

      module CRLDistributionPoints
        include Helpers
        # The addresses of lists of revoked certificates, or nil.
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
        # The addresses of the issuer's certificate, or nil.
        def ca_issuer_uris = access_uris("caIssuers")
        # The addresses of OCSP servers, or nil.
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
      # `config`: An OpenSSL::Config with sections that values name.
      attr_accessor :config

      # A factory for extensions of an issuer, a subject, a request or a list.
      def initialize(issuer = nil, subject = nil, request = nil, crl = nil)
        @config = nil
        @__parts = {}
        { issuer_certificate: issuer, subject_certificate: subject, subject_request: request, crl: }.each { |name, object| __send__(:"#{name}=", object) if object }
      end

      PARTS = { issuer_certificate: [:Certificate, "OpenSSL/X509"], subject_certificate: [:Certificate, "OpenSSL/X509"], subject_request: [:Request, "OpenSSL/X509/REQ"], crl: [:CRL, "OpenSSL/X509/CRL"] }.freeze
      private_constant :PARTS
      # :method: issuer_certificate: The certificate of the issuer, for extensions that tell of it.
      # :method: subject_certificate: The certificate that gets the extension.
      # :method: subject_request: The request that gets the extension.
      # :method: crl: The list that gets the extension.
      # :method: issuer_certificate=(certificate): Sets the certificate of the issuer.
      # :method: subject_certificate=(certificate): Sets the certificate that gets the extension.
      # :method: subject_request=(request): Sets the request that gets the extension.
      # :method: crl=(crl): Sets the list that gets the extension.
      PARTS.each do |name, (type, expected)|
        define_method(name) { @__parts[name] }
        define_method(:"#{name}=") do |object|
          Given.handle(object, X509.const_get(type), expected)
          @__parts[name] = object
        end
      end

      # An extension of its name and its value in the words of OpenSSL's configuration.
      #
      #     OpenSSL::X509::ExtensionFactory.new.create_ext("basicConstraints", "CA:TRUE", true).to_s   #=> "basicConstraints = critical, CA:TRUE"
      def create_ext(oid, value, critical = false)
        value = "critical,#{Given.string(value)}" if critical
        handles = PARTS.each_key.map { |name| @__parts[name]&.__handle }
        Extension.__wrap(Native.extension_create(Given.string(oid), Given.string(value), *handles, @config&.to_s))
      end
      # An extension of name, value and whether it is critical, of an Array or a Hash of these, or of a text "name = value".
      def create_extension(*arg)
        return create_ext(*arg) if arg.size > 1
        case arg = arg[0]
        when Array then create_ext_from_array(arg)
        when String then create_ext_from_string(arg)
        when Hash then create_ext_from_hash(arg)
        else raise TypeError, "unexpected argument type: #{arg.class}"
        end
      end
      # An extension of `[name, value, critical]`.
      def create_ext_from_array(parts)
        raise ExtensionError, "unexpected array form" if parts.size > 3
        create_ext(parts[0], parts[1], parts[2])
      end
      # An extension of "name = value".
      def create_ext_from_string(text)
        oid, value = text.split("=", 2).map(&:strip)
        raise ExtensionError, "string must be in the format \"oid = value\"" unless value
        create_ext(oid, value)
      end
      # An extension of "oid", "value" and "critical" of a Hash.
      def create_ext_from_hash(hash) = create_ext(hash["oid"], hash["value"], hash["critical"])
    end

    # What certificates, requests and lists have in common.
    module Signed
      module Wrapping
        def __wrap(handle)
          object = allocate
          object.__take(handle)
        end
      end
      def self.included(base) = base.extend(Wrapping)

      # A new one, or one in PEM or DER.
      def initialize(source = nil)
        @__h = source.nil? ? Native.x_new(kind) : Native.x_read(kind, Given.string(source))
      end

      def initialize_copy(other)
        @__h = Native.dup(other.__handle)
      end

      def __handle = @__h || raise(error, "uninitialized #{self.class}")
      def __take(handle)
        @__h = handle
        self
      end
      # It in DER.
      def to_der = Native.x_der(__handle)
      # It in PEM.
      def to_pem = Native.x_pem(__handle)
      alias to_s to_pem
      # Its parts as text.
      def to_text = Native.x_text(__handle)
      # Whether both are equal in DER.
      def ==(other) = other.is_a?(self.class) && to_der == other.to_der
      # The version, an Integer that counts from 0.
      def version = Native.x_version(__handle)
      # Sets the version, which counts from 0.
      def version=(n)
        raise error, "version must be >= 0!" if Integer(n) < 0
        Native.x_set_version(__handle, Integer(n))
      end
      # The name of the signature's algorithm.
      def signature_algorithm = Native.x_algorithm(__handle, false)[1]
      # Signs it with a private key and a digest, and answers it.
      def sign(key, digest)
        Native.x_sign(__handle, Given.private_key(key), Given.digest(digest))
        self
      end
      # Whether it is signed by the key.
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
      # The extensions, as Extension.
      def extensions = Native.x_extensions(__handle).map { |h| Extension.__wrap(h) }
      # Sets the extensions.
      def extensions=(list)
        list = list.to_ary
        list.each { |e| raise TypeError, "wrong argument type #{e.class} (expected OpenSSL/X509/EXT)" unless e.is_a?(Extension) }
        Native.x_clear_extensions(__handle)
        list.each { |e| Native.x_add_extension(__handle, e.__handle) }
      end
      # Adds an extension, and answers it.
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
        # All certificates in a text in PEM, or the one in DER.
        def load(text) = Native.x_read_all(Given.string(text)).map { |h| __wrap(h) }
        # All certificates in a file in PEM, or the one in DER.
        def load_file(path) = load(File.binread(path))
      end

      # The serial number, an OpenSSL::BN.
      def serial = Given.bn(Native.x_serial(__handle))
      # Sets the serial number.
      def serial=(n)
        Native.x_set_serial(__handle, Given.hex(n))
      end
      # Whom it is for, an X509::Name.
      def subject = name_of(:subject)
      # Who issued it, an X509::Name.
      def issuer = name_of(:issuer)
      # Sets whom it is for.
      def subject=(name)
        set_name(:subject, name)
      end
      # Sets who issued it.
      def issuer=(name)
        set_name(:issuer, name)
      end
      # The Time from which on it is valid, or nil.
      def not_before = time_at(0)
      # The Time until which it is valid, or nil.
      def not_after = time_at(1)
      # Sets the time from which on it is valid.
      def not_before=(time)
        set_time(0, time)
      end
      # Sets the time until which it is valid.
      def not_after=(time)
        set_time(1, time)
      end
      # The public key.
      def public_key = PKey.__wrap(Native.x_key(__handle))
      # Sets the public key.
      def public_key=(key)
        Native.x_set_key(__handle, key.is_a?(PKey::PKey) ? key.__handle : raise(TypeError, "wrong argument type #{key.class} (expected OpenSSL/EVP_PKEY)"))
      end
      # Whether the certificate is that of the private key.
      def check_private_key(key) = Native.x_check_key(__handle, Given.private_key(key))
      # The bytes that are signed.
      def tbs_bytes = Native.x_tbs(__handle)
      # The name of the signature's algorithm.
      def signature_algorithm = super
      # Subject, issuer, serial number and times.
      def inspect = "#<#{self.class}: subject=#{subject.inspect}, issuer=#{issuer.inspect}, serial=#{serial.inspect}, not_before=#{not_before.inspect}, not_after=#{not_after.inspect}>"
      # What `pp` prints.
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

      # An attribute of a name and a SET of ASN.1, or one in DER.
      def initialize(oid, value = (der = true; nil))
        if der
          data = ASN1.decode(Given.string(oid))
          @__oid, @__value = data.value[0].value, data.value[1]
        else
          raise ASN1::ASN1Error, "invalid OID" unless oid.match?(/\A\d+(\.\d+)+\z/) || Native.oid(oid)
          self.oid = oid
          self.value = value if value
        end
      end

      # The name of the attribute.
      def oid = @__oid && (Native.oid(@__oid)&.first || @__oid)
      # Sets the name; AttributeError for unknown ones.
      def oid=(oid)
        raise AttributeError, "OBJ_txt2obj: unknown object name" unless oid.match?(/\A\d+(\.\d+)+\z/) || Native.oid(oid)
        @__oid = oid
      end
      # The value, an ASN1::Set.
      def value = @__value
      # Sets the value, which has to be a SET of ASN.1.
      def value=(value)
        raise TypeError, "no implicit conversion" unless value.respond_to?(:to_der)
        data = ASN1.decode(value.to_der)
        raise AttributeError, "X509_ATTRIBUTE_create: expected a SET" unless data.is_a?(ASN1::Set)
        @__value = data
      end
      # The attribute in DER.
      def to_der = ASN1::Sequence([ASN1::ObjectId(@__oid), @__value || ASN1::Set([])]).to_der
      # Whether both are equal in DER.
      def ==(other) = other.is_a?(Attribute) && to_der == other.to_der
    end

    class Request
      private def kind = :request
      private def error = RequestError
      include Marshal
      include Signed

      # Whom the certificate is to be for, an X509::Name.
      def subject = name_of(:subject)
      # Sets whom the certificate is to be for.
      def subject=(name)
        set_name(:subject, name)
      end
      # The public key.
      def public_key = PKey.__wrap(Native.x_key(__handle))
      # Sets the public key.
      def public_key=(key)
        Native.x_set_key(__handle, key.__handle)
      end
      # The attributes, as Attribute.
      def attributes = Native.x_parts(__handle).map { |der| Attribute.new(der) }
      # Sets the attributes.
      def attributes=(list)
        list.to_ary.each { |a| raise TypeError, "wrong argument type #{a.class} (expected OpenSSL/X509/ATTR)" unless a.is_a?(Attribute) }
        Native.x_clear_parts(__handle)
        list.each { |a| add_attribute(a) }
      end
      # Adds an attribute, and answers it.
      def add_attribute(attribute)
        Native.x_add_part(__handle, attribute.to_der)
        attribute
      end
    end

    class Revoked
      # An entry of a list of revoked certificates, new or in DER.
      def initialize(der = nil)
        @__serial, @__time, @__extensions = BN.new(0), nil, []
        return unless der
        parts = ASN1.decode(Given.string(der)).value
        @__serial, @__time = parts[0].value, parts[1].value
        @__extensions = parts[2] ? parts[2].value.map { |e| Extension.new(e.to_der) } : []
      end

      # The serial number of the certificate, an OpenSSL::BN.
      def serial = @__serial
      # The Time when it was revoked.
      def time = @__time
      # Sets the serial number of the certificate.
      def serial=(n)
        @__serial = BN.new(Integer(n.to_i))
      end
      # Sets the time when it was revoked.
      def time=(time)
        @__time = Time.at(time.to_i).utc
      end
      # The extensions of the entry.
      def extensions = @__extensions.dup
      # Sets the extensions of the entry.
      def extensions=(list)
        list.each { |e| raise TypeError, "wrong argument type #{e.class} (expected OpenSSL/X509/EXT)" unless e.is_a?(Extension) }
        @__extensions = list.dup
      end
      # Adds an extension, and answers it.
      def add_extension(extension)
        @__extensions << extension
        extension
      end
      # The entry in DER.
      def to_der
        time = @__time || Time.at(0).utc
        parts = [ASN1::Integer(@__serial), time.year < 2050 ? ASN1::UTCTime(time) : ASN1::GeneralizedTime(time)]
        parts << ASN1::Sequence(@__extensions) unless @__extensions.empty?
        ASN1::Sequence(parts).to_der
      end
      # Whether both are equal in DER.
      def ==(other) = other.is_a?(Revoked) && to_der == other.to_der
    end

    class CRL
      private def kind = :crl
      private def error = CRLError
      include Marshal
      include Extended
      include Signed
      include Extension::AuthorityKeyIdentifier

      # Who issued the list, an X509::Name.
      def issuer = name_of(:issuer)
      # Sets who issued the list.
      def issuer=(name)
        set_name(:issuer, name)
      end
      # The Time when the list was made, or nil.
      def last_update = time_at(0)
      # The Time when the next list is due, or nil.
      def next_update = time_at(1)
      # Sets the time when the list was made.
      def last_update=(time)
        set_time(0, time)
      end
      # Sets the time when the next list is due.
      def next_update=(time)
        set_time(1, time)
      end
      # The entries, as Revoked.
      def revoked = Native.x_parts(__handle).map { |der| Revoked.new(der) }
      # Sets the entries.
      def revoked=(list)
        list.to_ary.each { |r| raise TypeError, "wrong argument type #{r.class} (expected OpenSSL/X509/REV)" unless r.is_a?(Revoked) }
        Native.x_clear_parts(__handle)
        list.each { |r| add_revoked(r) }
      end
      # The entry of a serial number, or nil.
      def by_serial(serial)
        raise TypeError, "Cannot convert into OpenSSL::BN" if serial.nil?
        serial = BN.new(serial)
        revoked.find { |r| r.serial == serial }
      end
      # Adds an entry, and answers it.
      def add_revoked(revoked)
        Native.x_add_part(__handle, revoked.to_der)
        revoked
      end
    end
  end
end
