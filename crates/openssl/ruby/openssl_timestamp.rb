# OpenSSL::Timestamp: that data was there at a time.
module OpenSSL
  # That data was there at a time (RFC 3161): a Request goes to an authority, its Response is verified and kept.
  module Timestamp
    class TimestampError < OpenSSLError; end

    # What the classes have in common.
    module Whole
      def self.included(base) = base.extend(Wrapping)
      module Wrapping
        def __wrap(handle)
          object = allocate
          object.__take(handle)
        end
      end

      def __take(handle)
        @__h = handle
        self
      end
      def __handle = @__h || raise(RuntimeError, "#{what} wasn't initialized.")
      def initialize_copy(other)
        @__h = Native.ts_read(kind, Native.ts_der(other.__handle))
      end
      # The object in DER.
      def to_der = Native.ts_der(__handle)
      # The parts as text.
      def to_text = Native.ts_text(__handle)
    end
    private_constant :Whole

    # What an authority is asked: to stamp the digest of some data.
    #
    #     request = OpenSSL::Timestamp::Request.new
    #     request.algorithm = "SHA256"
    #     request.message_imprint = OpenSSL::Digest.digest("SHA256", "data")
    #     request.to_der.bytesize   #=> 59
    class Request
      include Whole
      private def kind = :ts_request
      private def what = "TS_REQ"

      # A request that wants the authority's certificate, or one in DER.
      def initialize(der = (empty = true; nil))
        @__h = empty ? Native.ts_new : Native.ts_read(:ts_request, Given.der(der))
      end

      private def part(i) = Native.ts_request(__handle)[i]
      private def text(value) = String.try_convert(value) || raise(TypeError, "no implicit conversion of #{value.nil? ? "nil" : value.class} into String")

      # The version of the request: 1.
      def version = part(0)
      # Sets the version; TimestampError for negative ones.
      def version=(n)
        n = Given.integer(n)
        raise TimestampError, "version must be >= 0!" if n < 0
        Native.ts_set_number(__handle, :version, n)
      end
      # The name of the digest, or nil.
      def algorithm = part(1)
      # Sets the digest by its name or its numbers; ASN1Error for unknown names.
      def algorithm=(name)
        Native.ts_set_text(__handle, :algorithm, text(name))
      end
      # The digest of the data, as bytes.
      def message_imprint = part(2)
      # Sets the digest of the data.
      def message_imprint=(digest)
        Native.ts_set_text(__handle, :imprint, text(digest))
      end
      # The rules by which the authority is to stamp, or nil.
      def policy_id = part(3)
      # Sets the rules by their name or numbers: "1.2.3.4"; ASN1Error for unknown names.
      def policy_id=(name)
        Native.ts_set_text(__handle, :policy, text(name))
      end
      # The number that the response has to repeat, an OpenSSL::BN, or nil.
      def nonce = Given.bn(part(4))
      # Sets the number that the response has to repeat.
      def nonce=(n)
        raise TypeError, "Can't convert nil into Integer" if n.nil?
        n = BN.__send__(:__integer, n)
        Native.ts_set_text(__handle, :nonce, n.to_s(16))
      end
      # Whether the response is to have the authority's certificate.
      def cert_requested? = part(5)
      # Sets whether the response is to have the authority's certificate.
      def cert_requested=(on)
        Native.ts_set_number(__handle, :cert_requested, on ? 1 : 0)
      end

      # The request in DER; TimestampError without digest.
      def to_der
        raise TimestampError, "Message imprint missing algorithm" unless algorithm
        raise TimestampError, "Message imprint missing hashed message" if message_imprint.empty?
        super
      end
    end

    # What an authority answers: a stamp, or why there is none.
    class Response
      include Whole
      private def kind = :ts_response
      private def what = "TS_RESP"

      GRANTED, GRANTED_WITH_MODS, REJECTION, WAITING, REVOCATION_WARNING, REVOCATION_NOTIFICATION = *0..5
      FAILURES = {
        0 => :BAD_ALG, 2 => :BAD_REQUEST, 5 => :BAD_DATA_FORMAT, 14 => :TIME_NOT_AVAILABLE, 15 => :UNACCEPTED_POLICY, 16 => :UNACCEPTED_EXTENSION, 17 => :ADD_INFO_NOT_AVAILABLE,
        25 => :SYSTEM_FAILURE
      }.freeze
      private_constant :FAILURES

      # A response in DER; TimestampError if it is none.
      def initialize(der)
        @__h = Native.ts_read(:ts_response, Given.der(der))
      end

      private def part(i) = Native.ts_response(__handle, FAILURES.keys)[i]

      # The status, an OpenSSL::BN: GRANTED or another.
      def status = Given.bn(part(0))
      # Why there is no stamp: `:BAD_ALG`, `:BAD_REQUEST`, `:UNACCEPTED_POLICY` and others; or nil.
      def failure_info
        bit = part(1) or return nil
        FAILURES[bit] || raise(TimestampError, "Unrecognized failure info.")
      end
      # What the authority says about it, texts.
      def status_text = part(2)
      # The signed stamp, a PKCS7, or nil.
      def token = (h = part(3)) && PKCS7.__wrap(h)
      # What is stamped, a TokenInfo, or nil.
      def token_info = (h = part(4)) && TokenInfo.__wrap(h)
      # The authority's certificate, or nil if the response does not have it.
      def tsa_certificate
        token = self.token or return nil
        signer = token.signers.first or return nil
        token.certificates&.find { |cert| cert.serial == signer.serial && cert.issuer == signer.issuer }
      end

      # The response, if it is the answer to the request, and signed by an authority whom the store trusts; `certs` may lead there. TimestampError if not.
      def verify(request, store, certs = nil)
        request = Given.handle(request, Request, "OpenSSL/Timestamp/Request")
        store = Given.handle(store, X509::Store, "OpenSSL/X509/STORE")
        certs = certs.nil? ? [] : Given.certs(certs)
        token = self.token or raise TimestampError, "TS_RESP_get_token"
        Native.ts_verify(__handle, request, store, certs + (token.certificates || []).map(&:__handle))
        self
      end
    end

    # What is stamped.
    class TokenInfo
      include Whole
      private def kind = :ts_info
      private def what = "TS_TST_INFO"

      # One in DER; TimestampError if it is none.
      def initialize(der)
        @__h = Native.ts_read(:ts_info, Given.der(der))
      end

      private def part(i) = Native.ts_info(__handle)[i]
      # The version: 1.
      def version = part(0)
      # The rules by which the authority stamps.
      def policy_id = part(1)
      # The name of the digest.
      def algorithm = part(2)
      # The digest of the data, as bytes.
      def message_imprint = part(3)
      # The number of the stamp, an OpenSSL::BN.
      def serial_number = Given.bn(part(4))
      # The Time of the stamp.
      def gen_time = (text = part(5)) && Time.utc(*text.match(/\A(\d{4,})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/).captures.map(&:to_i))
      # Whether all stamps of the authority can be told apart by their times.
      def ordering = part(6)
      # The number of the request, an OpenSSL::BN, or nil.
      def nonce = Given.bn(part(7))
    end

    # An authority.
    class Factory
      PARTS = %i[gen_time serial_number default_policy_id allowed_digests additional_certs].freeze
      private_constant :PARTS
      # :method: gen_time: The Time of stamps.
      # :method: gen_time=(time): Sets the Time of stamps.
      # :method: serial_number: The number of the next stamp.
      # :method: serial_number=(number): Sets the number of the next stamp.
      # :method: default_policy_id: The rules of requests that name none.
      # :method: default_policy_id=(name): Sets the rules of requests that name none.
      # :method: allowed_digests: The digests that may be stamped, their names or OpenSSL::Digest.
      # :method: allowed_digests=(list): Sets the digests that may be stamped; without them requests are rejected.
      # :method: additional_certs: Certificates that go with the authority's own.
      # :method: additional_certs=(list): Sets certificates that go with the authority's own.
      PARTS.each do |name|
        define_method(name) { @__parts&.[](name) }
        define_method(:"#{name}=") { |value| (@__parts ||= {})[name] = value }
      end

      # The Response to a request, signed with a private key and a certificate for time stamps. It may be a rejection; TimestampError if there can be none.
      def create_timestamp(key, certificate, request)
        certificate = Given.cert(certificate)
        key = Given.private_key(key)
        handle = Given.handle(request, Request, "OpenSSL/Timestamp/Request")
        raise TimestampError, "@gen_time must be a Time." unless gen_time.instance_of?(Time)
        raise TimestampError, "@serial_number must be set." if serial_number.nil?
        serial = BN.__send__(:__integer, serial_number).to_s(16)
        policy = default_policy_id
        unless request.policy_id
          raise TimestampError, "No policy id in the request and no default policy set" if policy.nil?
          policy = String.try_convert(policy) || raise(TypeError, "no implicit conversion of #{policy.class} into String")
        end
        certs = additional_certs.is_a?(Array) ? Given.certs(additional_certs) : []
        digests = allowed_digests.is_a?(Array) ? allowed_digests.map { |one| Given.digest(one) || raise(TypeError, "wrong argument type nil (expected OpenSSL/Digest)") } : []
        request.to_der
        Response.__wrap(Native.ts_create(key, certificate, handle, [serial, gen_time.to_i, request.policy_id ? nil : policy], certs, digests))
      end
    end
  end
end
