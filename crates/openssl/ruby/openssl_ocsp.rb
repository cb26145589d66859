# OpenSSL::OCSP: whether certificates are revoked.
module OpenSSL
  # Whether certificates are revoked, asked of their issuers (RFC 6960): a Request goes to the address in `ocsp_uris` of a certificate, a Response comes back.
  module OCSP
    class OCSPError < OpenSSLError; end

    RESPONSE_STATUS_SUCCESSFUL, RESPONSE_STATUS_MALFORMEDREQUEST, RESPONSE_STATUS_INTERNALERROR, RESPONSE_STATUS_TRYLATER = 0, 1, 2, 3
    RESPONSE_STATUS_SIGREQUIRED, RESPONSE_STATUS_UNAUTHORIZED = 5, 6
    REVOKED_STATUS_NOSTATUS, REVOKED_STATUS_UNSPECIFIED, REVOKED_STATUS_KEYCOMPROMISE, REVOKED_STATUS_CACOMPROMISE, REVOKED_STATUS_AFFILIATIONCHANGED = -1, 0, 1, 2, 3
    REVOKED_STATUS_SUPERSEDED, REVOKED_STATUS_CESSATIONOFOPERATION, REVOKED_STATUS_CERTIFICATEHOLD, REVOKED_STATUS_REMOVEFROMCRL = 4, 5, 6, 8
    V_CERTSTATUS_GOOD, V_CERTSTATUS_REVOKED, V_CERTSTATUS_UNKNOWN = 0, 1, 2
    V_RESPID_NAME, V_RESPID_KEY = 0, 1
    NOCERTS, NOINTERN, NOSIGS, NOCHAIN, NOVERIFY, NOEXPLICIT, NOCASIGN, NODELEGATED, NOCHECKS, TRUSTOTHER, RESPID_KEY, NOTIME = *12.times.map { |bit| 1 << bit }

    # What the classes have in common.
    module Whole
      module Wrapping
        def __wrap(handle)
          object = allocate
          object.__take(handle)
        end
      end
      def self.included(base) = base.extend(Wrapping)

      def __take(handle)
        @__h = handle
        self
      end
      def __handle = @__h || raise(RuntimeError, "#{what} wasn't initialized!")
      def initialize_copy(other)
        @__h = Native.ocsp_read(kind, Native.ocsp_der(other.__handle))
      end
      # The object in DER; OCSPError if parts of it are missing.
      def to_der = Native.ocsp_der(__handle)

      private def certs_of(list) = Given.certs(list)
      private def number(value) = value.nil? ? 0 : Given.integer(value)
    end
    private_constant :Whole

    # What can be signed.
    module Signed
      # Signs it with a certificate's private key, and answers it. `certs` go with it beside the signer's (nil: not even that); `flags` are NOCERTS and, in a
      # BasicResponse, NOTIME and RESPID_KEY. ArgumentError without a private key.
      def sign(cert, key, certs = nil, flags = nil, digest = nil)
        flags = number(flags)
        cert, key = Given.cert(cert), Given.private_key(key)
        digest = digest && Given.digest(digest)
        certs = certs.nil? ? (flags |= NOCERTS; nil) : certs_of(certs)
        Native.ocsp_sign(__handle, cert, key, certs, flags, digest)
        self
      end

      # Whether it is signed by somebody whom the store trusts, or who is trusted to answer for an authority. `certs` may have the signer's certificate;
      # `flags` are NOINTERN, NOVERIFY, NOCHAIN and others.
      def verify(certs, store, flags = nil)
        store = Given.handle(store, X509::Store, "OpenSSL/X509/STORE")
        Native.ocsp_verify(__handle, certs_of(certs), store, number(flags))
      end
    end
    private_constant :Signed

    # What names a certificate: its serial number, and digests of its issuer's name and key.
    class CertificateId
      include Whole
      private def kind = :ocsp_id
      private def what = "Cert ID"

      # That of a certificate, by its issuer's certificate and a digest (SHA-1), or one in DER.
      def initialize(certificate, issuer = (der = true; nil), digest = nil)
        @__h = der ? Native.ocsp_read(:ocsp_id, Given.der(certificate)) : Native.ocsp_id(Given.cert(certificate), Given.cert(issuer), digest && Given.digest(digest))
      end

      private def same?(other, issuer) = Native.ocsp_id_same?(__handle, Given.handle(other, CertificateId, "OpenSSL/OCSP/CERTID"), issuer)
      # Whether both name the same certificate.
      def cmp(other) = same?(other, false)
      # Whether both are of the same issuer.
      def cmp_issuer(other) = same?(other, true)
      private def part(i) = Native.ocsp_id_parts(__handle)[i]
      # The serial number, an OpenSSL::BN.
      def serial = Given.bn(part(0))
      # The digest of the issuer's name, in hexadecimal digits.
      def issuer_name_hash = part(1).unpack1("H*").b
      # The digest of the issuer's key, in hexadecimal digits.
      def issuer_key_hash = part(2).unpack1("H*").b
      # The name of the digest: "sha1".
      def hash_algorithm = part(3)
    end

    # What is asked.
    class Request
      include Whole
      include Signed
      private def kind = :ocsp_request
      private def what = "Request"

      # A request about no certificate yet, or one in DER.
      def initialize(der = nil)
        @__h = der.nil? ? Native.ocsp_new(:ocsp_request) : Native.ocsp_read(:ocsp_request, Given.der(der))
      end

      # Asks about a certificate, and answers the request.
      def add_certid(id)
        Native.ocsp_request_add(__handle, Given.handle(id, CertificateId, "OpenSSL/OCSP/CERTID"))
        self
      end
      # The certificates that it asks about, as CertificateId; nil if there are none.
      def certid
        ids = Native.ocsp_request_ids(__handle)
        ids.empty? ? nil : ids.map { |h| CertificateId.__wrap(h) }
      end
      # Sets the bytes that the answer has to repeat, without an argument random ones, and answers the request.
      def add_nonce(nonce = nil)
        Native.ocsp_add_nonce(__handle, nonce)
        self
      end
      # Whether an answer repeats the bytes: 1 yes, 2 if none of both has any, 3 if the answer alone has some, 0 if they differ, -1 if the answer has none.
      def check_nonce(basic) = Native.ocsp_check_nonce(__handle, Given.handle(basic, BasicResponse, "OpenSSL/OCSP/BASICRESP"))
      # Whether the request is signed.
      def signed? = Native.ocsp_signed?(__handle)
    end

    # What comes back: whether there is an answer, and the answer.
    class Response
      include Whole
      private def kind = :ocsp_response
      private def what = "Response"

      # A response with a status (RESPONSE_STATUS_SUCCESSFUL ...) and a BasicResponse or nil.
      def self.create(status, basic)
        basic = basic && Given.handle(basic, BasicResponse, "OpenSSL/OCSP/BASICRESP")
        __wrap(Native.ocsp_response_create(Given.integer(status), basic))
      end

      # An empty response, or one in DER.
      def initialize(der = nil)
        @__h = der.nil? ? Native.ocsp_new(:ocsp_response) : Native.ocsp_read(:ocsp_response, Given.der(der))
      end

      # The status: RESPONSE_STATUS_SUCCESSFUL or another.
      def status = Native.ocsp_response_status(__handle)[0]
      # The status in words.
      def status_string = Native.ocsp_response_status(__handle)[1]
      # The answer, a BasicResponse, or nil.
      def basic = (h = Native.ocsp_response_basic(__handle)) && BasicResponse.__wrap(h)
    end

    # A signed answer: what is known of some certificates.
    class BasicResponse
      include Whole
      include Signed
      private def kind = :ocsp_basic
      private def what = "Response"

      # An answer about no certificate yet, or one in DER.
      def initialize(der = nil)
        @__h = der.nil? ? Native.ocsp_new(:ocsp_basic) : Native.ocsp_read(:ocsp_basic, Given.der(der))
      end

      # Repeats the bytes of a request, and answers whether it had some: 1, or 2.
      def copy_nonce(request) = Native.ocsp_copy_nonce(__handle, Given.handle(request, Request, "OpenSSL/OCSP/REQUEST"))
      # Sets bytes as `copy_nonce` does, without an argument random ones, and answers the answer.
      def add_nonce(nonce = nil)
        Native.ocsp_add_nonce(__handle, nonce)
        self
      end

      # Adds what is known of a certificate, and answers the answer: V_CERTSTATUS_GOOD, V_CERTSTATUS_UNKNOWN, or V_CERTSTATUS_REVOKED with a reason
      # (REVOKED_STATUS_UNSPECIFIED ...) and a time. `this_update` tells when that was known, `next_update` (or nil) when news are due. Times are of Time, or
      # seconds from now.
      def add_status(id, status, reason, revocation_time, this_update, next_update, extensions)
        id, status = Given.handle(id, CertificateId, "OpenSSL/OCSP/CERTID"), Given.integer(status)
        extensions = extensions.nil? ? [] : Array.try_convert(extensions) || raise(TypeError, "wrong argument type #{extensions.class} (expected Array)")
        extensions = extensions.map do |one|
          one.is_a?(X509::Extension) ? one.__handle : raise(TypeError, "wrong argument (#{one.class})! (Expected kind of OpenSSL::X509::Extension)")
        end
        revoked = status == V_CERTSTATUS_REVOKED
        reason = revoked ? Given.integer(reason) : 0
        times = [revoked ? moment(revocation_time) : nil, moment(this_update), next_update.nil? ? nil : moment(next_update)]
        Native.ocsp_add_status(__handle, id, [status, reason], times, extensions)
        self
      end
      private def moment(time)
        time = time.to_time if !time.is_a?(Time) && !time.is_a?(::Integer) && time.respond_to?(:to_time)
        return time.to_i if time.is_a?(Time)
        raise TypeError, "can't convert nil into Integer" if time.nil?
        Time.now.to_i + Kernel.Integer(time)
      end

      # What it tells of each certificate: `[CertificateId, status, reason, time of revocation, this update, next update, extensions]`.
      def status = responses.map(&:__parts)
      # What it tells of each certificate, as SingleResponse.
      def responses = Native.ocsp_singles(__handle).map { |h| SingleResponse.__wrap(h) }
      # What it tells of a certificate, a SingleResponse, or nil.
      def find_response(id) = (h = Native.ocsp_find(__handle, Given.handle(id, CertificateId, "OpenSSL/OCSP/CERTID"))) && SingleResponse.__wrap(h)
    end

    # What an answer tells of one certificate.
    class SingleResponse
      include Whole
      private def kind = :ocsp_single
      private def what = "SingleResponse"

      # One in DER.
      def initialize(der)
        @__h = Native.ocsp_read(:ocsp_single, Given.der(der))
      end

      def __parts
        id, status, reason, *times, extensions = Native.ocsp_single(__handle)
        times.map! { |text| text && Time.utc(*text.match(/\A(\d{4,})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/).captures.map(&:to_i)) }
        [CertificateId.__wrap(id), status, reason, *times, extensions.map { |h| X509::Extension.__wrap(h) }]
      end
      # Whether it is of these days: `slack` seconds before and after its times are granted; with `age` it may be no older than so many seconds.
      def check_validity(slack = 0, age = -1) = Native.ocsp_valid?(__handle, number(slack), age.nil? ? -1 : Given.integer(age))
      # The certificate, a CertificateId.
      def certid = __parts[0]
      # V_CERTSTATUS_GOOD, V_CERTSTATUS_REVOKED or V_CERTSTATUS_UNKNOWN.
      def cert_status = __parts[1]
      # The Time when that was known.
      def this_update = __parts[4]
      # The Time when news are due, or nil.
      def next_update = __parts[5]
      private def revoked(i)
        parts = __parts
        raise OCSPError, "certificate is not revoked" if parts[1] != V_CERTSTATUS_REVOKED
        parts[i]
      end
      # The Time when the certificate was revoked; OCSPError if it is not.
      def revocation_time = revoked(3)
      # Why the certificate was revoked, REVOKED_STATUS_UNSPECIFIED or another; OCSPError if it is not.
      def revocation_reason = revoked(2)
      # Extensions, as X509::Extension.
      def extensions = __parts[6]
    end
  end
end
