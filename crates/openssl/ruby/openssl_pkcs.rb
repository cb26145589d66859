# OpenSSL::PKCS7 and PKCS12.
module OpenSSL
  class PKCS7
    include Marshal
    class PKCS7Error < OpenSSLError; end

    TEXT, NOCERTS, NOSIGS, NOCHAIN, NOINTERN, NOVERIFY, DETACHED, BINARY, NOATTR, NOSMIMECAP = 0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200
    TYPES = { signed: "pkcs7-signedData", data: "pkcs7-data", signedAndEnveloped: "pkcs7-signedAndEnvelopedData", enveloped: "pkcs7-envelopedData", encrypted: "pkcs7-encryptedData", digest: "pkcs7-digestData" }.freeze
    private_constant :TYPES

    class << self
      def __wrap(handle, data = nil)
        object = allocate
        object.__set(handle, data)
        object
      end

      # A structure without content is refused: nothing could be said about it.
      def __read(handle)
        raise PKCS7Error, "Could not parse the PKCS7: no content" if ASN1.decode(Native.x_der(handle)).value.size < 2
        handle
      end

      # Signed data; `certs` are further certificates, `flags` PKCS7 constants: DETACHED, BINARY.
      def sign(cert, key, data, certs = nil, flags = 0)
        data = Given.string(data)
        __wrap(Native.pkcs7_sign(Given.cert(cert), Given.private_key(key), data, certs && Given.certs(certs), flags || 0), data)
      end
      # Data that the owners of certificates can decrypt; ArgumentError without a cipher.
      def encrypt(certs, data, cipher = (none = true; nil), flags = 0)
        raise ArgumentError, "cipher must be specified before Ruby/OpenSSL 3: there is no default (RC2-40-CBC was it)" if none || cipher.nil?
        data = Given.string(data)
        __wrap(Native.pkcs7_encrypt(certs.map(&:__handle), data, Given.cipher(cipher), flags))
      end
      # The structure in a mail (S/MIME).
      def read_smime(text)
        handle, data = Native.smime_read(Given.string(text))
        __wrap(__read(handle), data)
      end
      # A mail (S/MIME) with the structure.
      def write_smime(pkcs7, data = nil, flags = 0) = Native.smime_write(pkcs7.__handle, data || pkcs7.data, flags)
    end

    def __set(handle, data)
      @__h, @data = handle, data
    end

    # A new structure, or one in PEM or DER.
    def initialize(source = nil)
      @__h = source.nil? ? Native.x_new(:pkcs7) : PKCS7.__read(Native.x_read(:pkcs7, Given.string(source)))
    end

    def initialize_copy(other)
      @__h = Native.dup(other.__handle)
    end

    # `data`: The content, once it is known: when it was signed or verified.
    attr_reader :data
    # `error_string`: The text of the last verification's error.
    attr_accessor :error_string

    # The parts in the order in which they are needed: type, cipher, signers or recipients, certificates, content.
    def type=(type)
      name = TYPES[type.to_sym] || raise(ArgumentError, "unknown PKCS7 type")
      Native.pkcs7_set_type(__handle, Native.oid(name)[3])
      @data = nil
    end
    # Sets the cipher.
    def cipher=(cipher)
      Native.pkcs7_set_cipher(__handle, Given.cipher(cipher))
    end
    # Adds a SignerInfo, and answers the structure.
    def add_signer(signer)
      signer.is_a?(SignerInfo) ? signer.__add_to(__handle) : raise(TypeError, "wrong argument type #{signer.class} (expected OpenSSL/PKCS7/SIGNERINFO)")
      self
    end
    # Adds a RecipientInfo, and answers the structure.
    def add_recipient(recipient)
      recipient.is_a?(RecipientInfo) ? recipient.__add_to(__handle) : raise(TypeError, "wrong argument type #{recipient.class} (expected OpenSSL/PKCS7/RECIPINFO)")
      self
    end
    # Adds a certificate, and answers the structure.
    def add_certificate(cert)
      cert.is_a?(X509::Certificate) ? Native.pkcs7_add(__handle, cert.__handle) : raise(TypeError, "wrong argument type #{cert.class} (expected OpenSSL/X509)")
      self
    end
    # Adds a list of revoked certificates, and answers the structure.
    def add_crl(crl)
      crl.is_a?(X509::CRL) ? Native.pkcs7_add(__handle, crl.__handle) : raise(TypeError, "wrong argument type #{crl.class} (expected OpenSSL/X509/CRL)")
      self
    end
    # Adds certificates.
    def certificates=(list)
      list.each { |cert| add_certificate(cert) }
    end
    # Adds lists of revoked certificates.
    def crls=(list)
      list.each { |crl| add_crl(crl) }
    end
    # Sets the content, which ends the structure.
    def add_data(data)
      text = Given.string(data)
      Native.pkcs7_finish(__handle, text)
      @data = data
    end
    alias data= add_data
    # The parts of the structure as text.
    def to_text = Native.pkcs7_text(__handle)

    def __handle = @__h || raise(PKCS7Error, "uninitialized PKCS7")
    private def tree = ASN1.decode(to_der)
    private def inner = tree.value[1].value[0]
    private def holds_certificates? = %i[signed signedAndEnveloped].include?(type)
    # What it is: `:signed`, `:data`, `:enveloped`, `:signedAndEnveloped`, `:encrypted` or `:digest`.
    def type
      number = Native.pkcs7_type(__handle)
      TYPES.key(TYPES.each_value.find { |name| Native.oid(name)[3] == number })
    end
    # Sets whether the signed content is left out of the structure; PKCS7Error if it is not signed.
    def detached=(on)
      raise PKCS7Error, "must specify a boolean" unless on == true || on == false
      Native.pkcs7_detached(__handle, on)
    end
    # Whether the signed content is not in the structure.
    def detached = Native.pkcs7_detached(__handle, nil)
    alias detached? detached
    # The certificates; nil if it is not signed.
    def certificates
      return unless holds_certificates?
      part = inner.value.find { |p| p.tag_class == :CONTEXT_SPECIFIC && p.tag == 0 }
      part&.value&.map { |cert| X509::Certificate.new(cert.to_der) }
    end
    # The lists of revoked certificates; nil if it is not signed.
    def crls
      return unless holds_certificates?
      part = inner.value.find { |p| p.tag_class == :CONTEXT_SPECIFIC && p.tag == 1 }
      part&.value&.map { |crl| X509::CRL.new(crl.to_der) }
    end
    # Who signed, as SignerInfo.
    def signers
      return [] unless holds_certificates?
      inner.value.last.value.map { |info| SignerInfo.__of(info) }
    end
    alias signer_info signers
    # Who can decrypt, as RecipientInfo.
    def recipients
      return [] unless %i[enveloped signedAndEnveloped].include?(type)
      inner.value.find { |part| part.is_a?(ASN1::Set) }.value.map { |info| RecipientInfo.__of(info) }
    end

    # The structure in DER.
    def to_der = Native.x_der(__handle)
    # The structure in PEM.
    def to_pem = Native.x_pem(__handle)
    alias to_s to_pem

    # Whether the signatures are good and lead to whom the store trusts; `error_string` tells what is wrong. The content stands in `data` then.
    def verify(certs, store, data = nil, flags = 0)
      data ||= @data if detached?
      return false if !store && flags & NOVERIFY == 0
      good, content, @error_string = Native.pkcs7_verify(__handle, certs&.map(&:__handle), store&.__handle, data && Given.string(data), flags)
      @data = content
      good
    end

    # The content, by a private key and its certificate.
    def decrypt(key, cert = nil, flags = 0) = Native.pkcs7_decrypt(__handle, Given.private_key(key), cert && Given.cert(cert), flags)

    # One of a structure's, or one to be made.
    class SignerInfo
      def self.__of(info)
        object = allocate
        object.__set(info)
        object
      end

      # Who is to sign: certificate, private key and digest.
      def initialize(cert, key, digest)
        Given.cert(cert)
        Given.private_key(key)
        @__issuer, @__serial = cert.issuer, cert.serial
        @__new = [cert, key, Given.digest(digest) || raise(TypeError, "wrong argument type nil (expected OpenSSL/Digest)")]
      end

      def __set(info)
        issuer, serial = info.value[1].value
        @__issuer, @__serial, @__der = X509::Name.new(issuer.to_der), serial.value, info.to_der
        signed = info.value.find { |p| p.tag_class == :CONTEXT_SPECIFIC && p.tag == 0 }
        at = signed&.value&.find { |attribute| attribute.value[0].value == "signingTime" }
        @__signed_time = at&.value&.[](1)&.value&.[](0)&.value
      end

      def __add_to(handle)
        return Native.pkcs7_add_signed(handle, @__der) if @__der
        cert, key, digest = @__new || raise(PKCS7Error, "uninitialized signer")
        Native.pkcs7_add_signer(handle, cert.__handle, key.__handle, digest)
      end

      # Who issued the signer's certificate, an X509::Name.
      def issuer = @__issuer
      # The serial number of the signer's certificate.
      def serial = @__serial
      alias name issuer
      # The Time of the signature; PKCS7Error if it is not told.
      def signed_time = @__signed_time || raise(PKCS7Error, "no signing time")
    end
    Signer = SignerInfo

    class RecipientInfo
      def self.__of(info)
        object = allocate
        object.__set(info)
        object
      end

      # Who is to decrypt: the owner of a certificate.
      def initialize(cert)
        raise TypeError, "wrong argument type #{cert.class} (expected OpenSSL/X509)" unless cert.is_a?(X509::Certificate)
        @__issuer, @__serial, @__cert = cert.issuer, cert.serial, cert
      end

      def __set(info)
        issuer, serial = info.value[1].value
        @__issuer, @__serial, @__enc_key = X509::Name.new(issuer.to_der), serial.value, info.value[3].value
      end

      def __add_to(handle)
        Native.pkcs7_add_recipient(handle, (@__cert || raise(PKCS7Error, "a recipient can be added where it was made")).__handle)
      end

      # Who issued the recipient's certificate, an X509::Name.
      def issuer = @__issuer
      # The serial number of the recipient's certificate.
      def serial = @__serial
      # The content's key, encrypted for the recipient.
      def enc_key = @__enc_key
    end
  end

  class PKCS12
    include Marshal
    class PKCS12Error < OpenSSLError; end
    KEY_EX, KEY_SIG = 0x10, 0x80

    # The private key.
    def key = @__key
    # The certificate of the key.
    def certificate = @__certificate
    # Further certificates, or nil.
    def ca_certs = @__ca_certs

    # A file of a key and certificates under a password; PKCS12Error if they do not belong together.
    def self.create(password, name, key, cert, ca = nil, key_pbe = nil, cert_pbe = nil, key_iter = nil, mac_iter = nil, keytype = nil)
      key_iter, mac_iter = [key_iter, mac_iter].map { |n| n && (Integer.try_convert(n) || raise(TypeError, "no implicit conversion of #{n.class} into Integer")) }
      numbers = [pbe(key_pbe), pbe(cert_pbe), key_iter || 0, mac_iter || 0, keytype || 0]
      raise ArgumentError, "Unknown usage type #{keytype}" unless [nil, 0, KEY_EX, KEY_SIG].include?(keytype)
      key && Given.private_key(key)
      if key && cert
        raise PKCS12Error, "PKCS12_create: key values mismatch" unless cert.check_private_key(key)
      end
      der = Native.pkcs12_create(password, name, key&.__handle, cert&.__handle, ca&.map(&:__handle), numbers)
      object = allocate
      object.__set(der, password)
      object
    end

    def self.pbe(name)
      return 0 unless name
      Native.oid(name)&.[](3) || raise(ArgumentError, "Unknown PBE algorithm #{name}")
    end
    private_class_method :pbe

    # The content of a file in DER; PKCS12Error if the password is wrong.
    def initialize(source = nil, password = nil)
      __set(Given.string(source), password) if source
    end

    def __set(der, password)
      key, cert, ca = Native.pkcs12_parse(der, password)
      @__der = der
      @__key = key && PKey.__wrap(key)
      @__certificate = cert && X509::Certificate.__wrap(cert)
      @__ca_certs = ca.empty? ? nil : ca.map { |h| X509::Certificate.__wrap(h) }
    end

    # Makes the checksum of the file anew, with a password, salt, iterations and digest.
    def set_mac(password, salt = nil, iterations = nil, digest = nil)
      @__der = Native.pkcs12_set_mac(@__der, password, salt, iterations || 2048, Given.digest(digest) || "SHA1")
      nil
    end

    # The file's content in DER.
    def to_der = @__der
  end
end
