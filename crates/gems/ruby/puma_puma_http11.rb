# Puma's TLS: an engine between two pieces of memory. OpenSSL is loaded when one of its classes is first named.
module Puma
  module MiniSSL
    OPENSSL_VERSION = OPENSSL_LIBRARY_VERSION = "OpenSSL 3.0.0"
    OPENSSL_NO_SSL3 = true
    OPENSSL_NO_TLS1 = false
    OPENSSL_NO_TLS1_1 = false

    class SSLError < StandardError
    end

    # What a `Puma::MiniSSL::Context` says, as OpenSSL has it.
    class SSLContext
      # The OpenSSL context of a `Puma::MiniSSL::Context`; SSLError if its files are wrong.
      def initialize(settings)
        require "openssl"
        @context = context = OpenSSL::SSL::SSLContext.new
        password = settings.key_password_command && settings.key_password
        chain = __chain(settings)
        key = __key(settings, password)
        context.add_certificate(chain[0], key, chain.drop(1)) if chain && key
        context.cert_store = __store(settings)
        __protocol(settings)
        __sessions(settings)
        mode = settings.verify_mode
        context.verify_mode = mode.nil? ? OpenSSL::SSL::VERIFY_NONE : mode
        context.setup
        freeze
      rescue OpenSSL::OpenSSLError => e
        raise SSLError, e.message
      end

      def __handle = @context.__handle # :nodoc:

      undef_method :initialize_copy

      private def __chain(settings)
        if (file = settings.cert)
          return OpenSSL::X509::Certificate.load_file(file.to_str) rescue raise(SSLError, "SSL_CTX_use_certificate_chain_file: error in file '#{file}': #{$!.message}")
        end
        pem = settings.cert_pem or return nil
        OpenSSL::X509::Certificate.load(pem) rescue raise(SSLError, "PEM_read_bio_X509: error with parameter 'cert_pem': #{$!.message}")
      end

      private def __key(settings, password)
        if (file = settings.key)
          return OpenSSL::PKey.read(File.binread(file.to_str), password || "") rescue raise(SSLError, "SSL_CTX_use_PrivateKey_file: error in file '#{file}': #{$!.message}")
        end
        pem = settings.key_pem or return nil
        OpenSSL::PKey.read(pem, password || "") rescue raise(SSLError, "SSL_CTX_use_PrivateKey: error in file '#{pem}': #{$!.message}")
      end

      private def __store(settings)
        ca, flags = settings.ca, settings.verification_flags
        store = OpenSSL::X509::Store.new
        store.flags = flags if flags
        if ca
          store.add_file(ca.to_str) rescue raise(SSLError, "SSL_CTX_load_verify_locations: error in file '#{ca}': #{$!.message}")
          @context.client_ca = OpenSSL::X509::Certificate.load_file(ca.to_str) if settings.verify_mode
        end
        store
      end

      private def __protocol(settings)
        @context.min_version = settings.no_tlsv1_1 ? :TLS1_2 : settings.no_tlsv1 ? :TLS1_1 : :TLS1
        @context.options |= OpenSSL::SSL::OP_CIPHER_SERVER_PREFERENCE | OpenSSL::SSL::OP_NO_COMPRESSION
        @context.ciphers = settings.ssl_cipher_filter || "HIGH:!aNULL@STRENGTH"
        suites = settings.ssl_ciphersuites
        @context.ciphersuites = suites if suites
      rescue OpenSSL::SSL::SSLError
        nil # as the extension: what OpenSSL does not know is left as it was
      end

      private def __sessions(settings)
        if settings.reuse
          @context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_SERVER
          @context.session_cache_size = settings.reuse_cache_size if settings.reuse_cache_size
          @context.timeout = settings.reuse_timeout if settings.reuse_timeout
        else
          @context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_OFF
        end
        @context.session_id_context = Random.bytes(32)
      end
    end

    class Engine
      class << self
        undef_method :new

        # An engine that answers a client.
        def server(context)
          engine = allocate
          engine.__send__(:__begin, context.__handle, true)
          engine
        end

        # An engine that speaks to a server.
        def client
          require "openssl"
          engine = allocate
          context = OpenSSL::SSL::SSLContext.new
          context.setup
          engine.__send__(:__begin, context.__handle, false)
          engine
        end
      end

      # Bytes from the other side.
      def inject(data)
        @native.ssl_feed(@ssl, data)
        data.bytesize
      end

      # What the other side has said; nil when more has to come.
      def read
        case result = __step(:read, 16 << 10)
        when String then result
        when Symbol then nil
        when nil then raise EOFError, "end of file reached"
        end
      end

      # Encrypts data, and answers how many bytes were taken, or nil when more has to come from the other side first.
      def write(data)
        result = __step(:write, data)
        result.is_a?(Integer) ? result : nil
      end

      # Bytes for the other side; nil when there are none.
      def extract
        out = @native.ssl_take(@ssl)
        out.empty? ? nil : out
      end

      # Whether the other side has said that it ends.
      def shutdown
        return true if init?
        __step(:shutdown, nil) == true && @native.ssl_get(@ssl, :shutdown) == 3
      end

      # Whether the handshake is under way.
      def init? = !@done && !(@done = @native.ssl_get(@ssl, :handshake_done?))

      # The certificate of the other side in DER, or nil.
      def peercert
        cert = @native.ssl_get(@ssl, :peer_cert) || @native.ssl_get(@ssl, :refused_cert)
        cert && @native.x_der(cert)
      end

      # The version of the protocol, and the state of the handshake.
      def ssl_vers_st = [@native.ssl_get(@ssl, :version), @native.ssl_get(@ssl, :state)[0]]

      private def __begin(context, server)
        @native = OpenSSL.const_get(:Native)
        @done = false
        @ssl = @native.ssl_new(context, nil)
        @native.ssl_begin(@ssl, server, false, false)
      end

      private def __step(what, arg)
        result = @native.ssl_step(@ssl, nil, what, arg, false)
        return result unless result.is_a?(Array)
        _, code, errno, _, reason, lines, verified, number = result
        raise SSLError, "System error: #{SystemCallError.new(errno).message} - #{errno}" if code == 5
        raise SSLError, "Unknown OpenSSL error: #{code}" unless code == 1
        if verified != 0
          raise SSLError, "OpenSSL certificate verification error: #{@native.verify_text(verified)} - #{verified}"
        end
        line = lines&.first || reason
        raise SSLError, "OpenSSL error: #{line} - #{number & 4095}"
      end
    end
  end
end
