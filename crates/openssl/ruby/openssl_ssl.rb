# OpenSSL::SSL: contexts, connections, servers.
require "socket"

module OpenSSL
  module SSL
    class SSLError < OpenSSLError; end
    class SSLErrorWaitReadable < SSLError
      include IO::WaitReadable
    end
    class SSLErrorWaitWritable < SSLError
      include IO::WaitWritable
    end

    VERIFY_NONE, VERIFY_PEER, VERIFY_FAIL_IF_NO_PEER_CERT, VERIFY_CLIENT_ONCE = 0, 1, 2, 4
    SSL2_VERSION, SSL3_VERSION, TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION = 2, 0x300, 0x301, 0x302, 0x303, 0x304
    OP_ALL = 0x80000850
    {
      NO_EXTENDED_MASTER_SECRET: 0, CLEANSE_PLAINTEXT: 1, LEGACY_SERVER_CONNECT: 2, ENABLE_KTLS: 3, TLSEXT_PADDING: 4, SAFARI_ECDHE_ECDSA_BUG: 6, IGNORE_UNEXPECTED_EOF: 7,
      ALLOW_CLIENT_RENEGOTIATION: 8, DISABLE_TLSEXT_CA_NAMES: 9, ALLOW_NO_DHE_KEX: 10, DONT_INSERT_EMPTY_FRAGMENTS: 11, NO_QUERY_MTU: 12, COOKIE_EXCHANGE: 13, NO_TICKET: 14,
      CISCO_ANYCONNECT: 15, NO_SESSION_RESUMPTION_ON_RENEGOTIATION: 16, NO_COMPRESSION: 17, ALLOW_UNSAFE_LEGACY_RENEGOTIATION: 18, NO_ENCRYPT_THEN_MAC: 19, ENABLE_MIDDLEBOX_COMPAT: 20,
      PRIORITIZE_CHACHA: 21, CIPHER_SERVER_PREFERENCE: 22, TLS_ROLLBACK_BUG: 23, NO_ANTI_REPLAY: 24, NO_SSLv3: 25, NO_TLSv1: 26, NO_TLSv1_2: 27, NO_TLSv1_1: 28, NO_TLSv1_3: 29,
      NO_RENEGOTIATION: 30, CRYPTOPRO_TLSEXT_BUG: 31
    }.each { |name, bit| const_set(:"OP_#{name}", 1 << bit) }
    # Of older OpenSSLs, without meaning.
    %i[NO_SSLv2 SINGLE_DH_USE SINGLE_ECDH_USE MICROSOFT_SESS_ID_BUG NETSCAPE_CHALLENGE_BUG NETSCAPE_REUSE_CIPHER_CHANGE_BUG SSLREF2_REUSE_CERT_TYPE_BUG MICROSOFT_BIG_SSLV3_BUFFER
       MSIE_SSLV2_RSA_PADDING SSLEAY_080_CLIENT_DH_BUG TLS_D5_BUG TLS_BLOCK_PADDING_BUG EPHEMERAL_RSA PKCS1_CHECK_1 PKCS1_CHECK_2 NETSCAPE_CA_DN_BUG
       NETSCAPE_DEMO_CIPHER_CHANGE_BUG].each { |name| const_set(:"OP_#{name}", 0) }

    class << self
      # Whether a certificate is one of a host: its alternative names, else its common name (RFC 6125).
      def verify_certificate_identity(cert, hostname)
        by_common_name = true
        cert.extensions.each do |extension|
          next if extension.oid != "subjectAltName"
          ASN1.decode(extension.value_der).value.each do |name|
            case name.tag
            when 2
              by_common_name = false
              return true if verify_hostname(hostname, name.value)
            when 7
              by_common_name = false
              return true if name.value == address(hostname)
            end
          end
        end
        return false unless by_common_name
        cert.subject.to_a.any? { |oid, value| oid == "CN" && verify_hostname(hostname, value) }
      end

      # Whether a host's name is that of a pattern, whose first label may hold a star.
      #
      #     OpenSSL::SSL.verify_hostname("www.example.com", "*.example.com")   #=> true
      def verify_hostname(hostname, pattern)
        return false unless pattern.ascii_only? && hostname.ascii_only?
        mine, its = hostname.downcase.split(".", -1), pattern.downcase.split(".", -1)
        first, *rest = its
        return mine == its unless first&.include?("*")
        # A star stands in the first label, for one label.
        !rest.empty? && mine[1..] == rest && verify_wildcard(mine[0], first)
      end

      # Whether a label is one of a pattern that may hold a star.
      def verify_wildcard(label, pattern)
        parts = pattern.split("*", -1)
        return false if parts.size > 2
        return label == pattern if parts.size == 1
        return true if pattern == "*"
        return false if label.start_with?("xn--")
        label.size >= pattern.size - 1 && label.start_with?(parts[0]) && label.end_with?(parts[1])
      end

      private def address(name)
        require "ipaddr"
        IPAddr.new(name).hton
      rescue IPAddr::Error
        nil
      end

      private def ip?(name) = name.match?(/\A\d{1,3}(\.\d{1,3}){3}\z/) || name.include?(":")
    end
    Given.functions(self, :verify_certificate_identity, :verify_hostname, :verify_wildcard)

    # How connections are to be. Native settings are noted, too: another VM makes its own context from them.
    class SSLContext
      SESSION_CACHE_OFF, SESSION_CACHE_CLIENT, SESSION_CACHE_SERVER, SESSION_CACHE_BOTH = 0, 1, 2, 3
      SESSION_CACHE_NO_AUTO_CLEAR, SESSION_CACHE_NO_INTERNAL_LOOKUP, SESSION_CACHE_NO_INTERNAL_STORE, SESSION_CACHE_NO_INTERNAL = 0x80, 0x100, 0x200, 0x300
      VERSIONS = { SSL2: SSL2_VERSION, SSL3: SSL3_VERSION, TLS1: TLS1_VERSION, TLS1_1: TLS1_1_VERSION, TLS1_2: TLS1_2_VERSION, TLS1_3: TLS1_3_VERSION }.freeze
      private_constant :VERSIONS
      METHODS = %i[TLSv1_2 TLSv1_1 TLSv1 SSLv3 SSLv2 SSLv23].flat_map { |m| [m, :"#{m}_client", :"#{m}_server"] }.freeze
      DEFAULT_PARAMS = { min_version: TLS1_VERSION, verify_mode: VERIFY_PEER, verify_hostname: true, options: OP_ALL & ~OP_DONT_INSERT_EMPTY_FRAGMENTS | OP_NO_COMPRESSION }.freeze
      # The system's authorities: read when it is first looked at.
      DEFAULT_CERT_STORE = X509::Store.new.tap { |store| store.__send__(:later) }

      PLAIN = %i[cert key client_ca ca_file ca_path timeout verify_mode verify_depth verify_callback verify_hostname cert_store extra_chain_cert client_cert_cb session_id_context session_get_cb
                 session_new_cb session_remove_cb renegotiation_cb alpn_protocols alpn_select_cb servername_cb keylog_cb tmp_dh_callback].freeze
      private_constant :PLAIN
      # :method: cert: The certificate of this end; `cert=` sets it, as all of these are set.
      # :method: key: The private key of this end.
      # :method: extra_chain_cert: Certificates between `cert` and the authority.
      # :method: client_ca: The certificates of the authorities that a server names to clients.
      # :method: ca_file: A file with certificates that are trusted.
      # :method: ca_path: A directory with certificates that are trusted.
      # :method: cert_store: The X509::Store of who is trusted.
      # :method: timeout: The seconds for which sessions can be used again.
      # :method: verify_mode: Whether the other end's certificate is verified: SSL::VERIFY_NONE, VERIFY_PEER.
      # :method: verify_depth: How many certificates a chain may have.
      # :method: verify_callback: What is called with `(good, X509::StoreContext)` for each certificate, and answers whether to go on.
      # :method: verify_hostname: Whether the certificate has to be one of the `hostname`.
      # :method: client_cert_cb: What is called with the SSLSocket when a server wants a certificate, and answers `[certificate, key]`.
      # :method: session_id_context: A text of at most 32 bytes that tells a server's sessions from those of others.
      # :method: session_new_cb: What is called with `[socket, session]` when a session begins.
      # :method: session_get_cb: What is called with `[socket, id]` when a client wants a session again, and answers it.
      # :method: session_remove_cb: What is called with `[context, session]` when a session is removed.
      # :method: renegotiation_cb: What is called with the SSLSocket when a handshake begins.
      # :method: alpn_protocols: The protocols that a client offers: `["h2", "http/1.1"]`.
      # :method: alpn_select_cb: What is called with the protocols that a client offers, and answers one of them.
      # :method: servername_cb: What is called with `[socket, name]` when a client names the host, and answers another context or nil.
      # :method: keylog_cb: What is called with `(socket, line)` for each line of a log of keys.
      # :method: tmp_dh_callback: What answers a DH key.
      attr_accessor(*PLAIN)
      alias ssl_timeout timeout
      alias ssl_timeout= timeout=

      # Has the handle, which changes although the context is frozen.
      class Holder
        attr_accessor :handle
      end
      private_constant :Holder

      # A context without verification; `set_params` gives one that clients should have.
      def initialize(version = nil)
        @verify_mode, @verify_hostname, @__holder = VERIFY_NONE, false, nil
        self.ssl_version = version if version
      end

      undef_method :initialize_copy

      def __handle
        # An allocated context can be set up without `initialize`.
        @__holder ||= Holder.new
        return @__holder.handle if Native.alive?(@__holder.handle)
        @__holder.handle = Native.ctx_new(@__side || 0)
        @__applied&.each { |call| Native.__send__(call[0], @__holder.handle, *call[1..]) }
        set_up if frozen?
        @__holder.handle
      end

      private def apply(*call)
        raise FrozenError, "can't modify frozen #{self.class}: #{inspect}" if frozen?
        result = Native.__send__(call[0], __handle, *call[1..])
        (@__applied ||= []) << call
        result
      end
      private def number(what, n = 0) = Native.ctx_number(__handle, what, n)

      # The options, bits of SSL::OP_ constants.
      def options = number(:options)
      # Sets the options.
      def options=(n)
        apply(:ctx_number, :"options=", n || OP_ALL)
      end

      # Sets the lowest version of the protocol: `:TLS1_2`, SSL::TLS1_2_VERSION, nil.
      def min_version=(version)
        raise SSLError, "SSL_CTX_set_min_proto_version" if apply(:ctx_number, :min_version, version_number(version)) != 1
      end
      # Sets the highest version of the protocol: `:TLS1_3`, SSL::TLS1_3_VERSION, nil.
      def max_version=(version)
        raise SSLError, "SSL_CTX_set_max_proto_version" if apply(:ctx_number, :max_version, version_number(version)) != 1
      end
      private def version_number(version)
        case version
        when nil, false then 0
        when Integer then version
        else
          name = version.to_s
          VERSIONS[name.sub(/\ATLSv?(\d)[._]?(\d)?\z/) { "TLS#{$1}#{"_#{$2}" if $2 && $2 != "0"}" }.sub(/\ASSLv/, "SSL").to_sym] || raise(ArgumentError, "unrecognized version \"#{name}\"")
        end
      end

      # Sets the one version of the protocol by the name of a method: `:TLSv1_2`.
      def ssl_version=(method)
        name = method.to_s
        @__side = name.end_with?("_client") ? 1 : name.end_with?("_server") ? 2 : 0
        name = name.sub(/_(client|server)\z/, "")
        return if name == "SSLv23" || name == "TLS"
        raise ArgumentError, "unknown SSL method `#{method}'" unless (version = VERSIONS[name.sub("SSLv3", "SSL3").sub("TLSv", "TLS").to_sym])
        self.min_version = self.max_version = version
      end

      # Sets what clients should have: certificates are verified, also their host, by the authorities of the system. Other settings by their names.
      def set_params(params = {})
        params = DEFAULT_PARAMS.merge(params)
        # What the system's configuration has set stays.
        options = params.delete(:options)
        self.options |= options if options
        params.each { |name, value| __send__(:"#{name}=", value) }
        @cert_store = DEFAULT_CERT_STORE unless @ca_file || @ca_path || @cert_store || @verify_mode == VERIFY_NONE
        params
      end

      # The ciphers that may be used: `[name, version, bits, bits of the algorithm]`.
      def ciphers = Native.ctx_ciphers(__handle)
      # Sets the ciphers of TLS 1.2 and older: names, or a text that separates them by colons.
      def ciphers=(list)
        return if list.nil?
        names = list.is_a?(Array) ? list.map { |c| c.is_a?(Array) ? c[0] : c.to_s }.join(":") : list.to_str
        apply(:ctx_text, :ciphers, names)
      end
      # Sets the ciphers of TLS 1.3.
      def ciphersuites=(list)
        return if list.nil?
        apply(:ctx_text, :ciphersuites, list.is_a?(Array) ? list.map { |c| c.is_a?(Array) ? c[0] : c.to_s }.join(":") : list)
      end
      # Sets the groups of the key exchange: "X25519:P-256".
      def groups=(names)
        apply(:ctx_text, :groups, names)
      end
      alias ecdh_curves= groups=
      # Sets the algorithms of signatures that are taken.
      def sigalgs=(names)
        apply(:ctx_text, :sigalgs, names)
      end
      # Sets the algorithms of signatures that a server takes of clients.
      def client_sigalgs=(names)
        apply(:ctx_text, :client_sigalgs, names)
      end
      # Sets the parameters of the key exchange by DH.
      def tmp_dh=(key)
        apply(:ctx_object, :dh, key.__handle)
      end
      # The level of security, 0 to 5.
      def security_level = number(:security_level?)
      # Sets the level of security: what is too weak for it is refused.
      def security_level=(n)
        apply(:ctx_number, :security_level, n)
      end
      # Which sessions are kept: SESSION_CACHE_ constants.
      def session_cache_mode = number(:cache_mode?)
      # Sets which sessions are kept.
      def session_cache_mode=(n)
        apply(:ctx_number, :cache_mode, n)
      end
      # How many sessions are kept.
      def session_cache_size = number(:cache_size?)
      # Sets how many sessions are kept.
      def session_cache_size=(n)
        apply(:ctx_number, :cache_size, n)
      end
      # A Hash of what happened to sessions so far.
      def session_cache_stats
        names = %i[cache_num connect connect_good connect_renegotiate accept accept_good accept_renegotiate cache_hits cb_hits cache_misses timeouts cache_full]
        names.each_with_index.to_h { |name, i| [name, number(:stat, 20 + i)] }
      end
      # Keeps a session; false if it is kept already.
      def session_add(session) = Native.ctx_object(__handle, :add_session, session.__handle)
      # Removes a session; false if it was not kept.
      def session_remove(session)
        removed = Native.ctx_object(__handle, :remove_session, session.__handle)
        @session_remove_cb&.call([self, session]) if removed
        removed
      end
      # Removes the sessions that are too old at a time.
      def flush_sessions(time = Time.now)
        number(:flush, time.to_i)
        self
      end
      # Tells servers that this is another try with an older protocol.
      def enable_fallback_scsv = apply(:ctx_number, :fallback, 0x80)


      # Adds a certificate with its key and the certificates up to the authority; ArgumentError if they do not belong together.
      def add_certificate(cert, key, chain = nil)
        Given.cert(cert)
        Given.private_key(key)
        raise ArgumentError, "private key does not match the public key of the certificate" unless cert.check_private_key(key)
        apply(:ctx_object, :cert, cert.__handle)
        apply(:ctx_object, :key, key.__handle)
        chain&.each { |one| apply(:ctx_object, :chain, one.__handle) }
        self
      end

      # Makes the context ready, and freezes it; nil if it is.
      def setup
        return nil if frozen?
        __handle
        set_up
        freeze!
        true
      end
      private def freeze! = Kernel.instance_method(:freeze).bind_call(self)
      # Makes the context ready, and freezes it.
      def freeze
        setup
        self
      end

      private def set_up
        h = @__holder.handle
        Native.ctx_callback(h, :hello) if @servername_cb || @alpn_select_cb || @session_get_cb
        { protocol: @alpn_select_cb, client_cert: @client_cert_cb, new_session: @session_new_cb, get_session: @session_get_cb, key_line: @keylog_cb, info: @renegotiation_cb }.each do |what, callback|
          Native.ctx_callback(h, what) if callback
        end
        Native.ctx_object(h, :store, @cert_store.__handle) if @cert_store
        @extra_chain_cert&.each { |cert| Native.ctx_object(h, :chain, cert.__handle) } unless @cert
        if @cert && @key
          key = Given.private_key(@key)
          Native.ctx_object(h, :cert, @cert.__handle)
          @extra_chain_cert&.each { |cert| Native.ctx_object(h, :chain, cert.__handle) }
          Native.ctx_object(h, :key, key)
          Native.ctx_check_key(h)
        end
        (@client_ca.is_a?(Array) ? @client_ca : [@client_ca].compact).each { |cert| Native.ctx_object(h, :client_ca, cert.__handle) }
        Native.ctx_text(h, :ca_file, File.expand_path(@ca_file)) if @ca_file
        Native.ctx_text(h, :ca_path, File.expand_path(@ca_path)) if @ca_path
        Native.ctx_number(h, :verify_mode, @verify_mode || VERIFY_NONE)
        Native.ctx_number(h, :timeout, @timeout) if @timeout
        Native.ctx_number(h, :verify_depth, @verify_depth) if @verify_depth
        Native.ctx_text(h, :session_id_context, @session_id_context) if @session_id_context
        if @alpn_protocols
          names = @alpn_protocols.map do |name|
            raise SSLError, "Advertised protocol must have length 1..255" unless name.bytesize.between?(1, 255)
            [name.bytesize].pack("C") + name.b
          end
          Native.ctx_text(h, :alpn, names.join)
        end
        # Making parameters takes long: they are asked for if there is a cipher that wants them.
        if @tmp_dh_callback && ciphers.any? { |name,| name.match?(/\A(?:DHE|EDH|ADH)-/) } && (key = @tmp_dh_callback.call(self, 0, 2048))
          Native.ctx_object(h, :dh, key.__handle)
        end
      end

      # Where Ruby verifies a client's certificate.
      def __verify_store
        return @cert_store if @cert_store && !@ca_file && !@ca_path
        X509::Store.new.tap do |store|
          store.add_file(@ca_file) if @ca_file
          store.add_path(@ca_path) if @ca_path
        end
      end
    end

    class Session
      class SessionError < OpenSSLError; end
      include Marshal

      def self.__wrap(handle)
        session = allocate
        session.__take(handle)
      end

      # The session of a connection, or one in PEM or DER.
      def initialize(source)
        @__h =
          if source.is_a?(SSLSocket) then source.__get(:session) || raise(ArgumentError, "no session available")
          else Native.x_read(:session, Given.string(source))
          end
      end

      def initialize_copy(other)
        @__h = Native.dup(other.__handle)
      end
      def __handle = @__h || raise(SessionError, "uninitialized session")
      def __take(handle)
        @__h = handle
        self
      end
      # The bytes that name the session.
      def id = Native.session_get(__handle, :id, nil)
      # The Time when the session began.
      def time = Time.at(Native.session_get(__handle, :time, nil))
      # Sets the time when the session began.
      def time=(time)
        Native.session_get(__handle, :time, time.to_i)
      end
      # The seconds for which the session can be used again.
      def timeout = Native.session_get(__handle, :timeout, nil)
      # Sets the seconds for which the session can be used again.
      def timeout=(seconds)
        Native.session_get(__handle, :timeout, seconds)
      end
      # Whether both are the same session.
      def ==(other) = other.is_a?(Session) && id == other.id && (time.to_i == other.time.to_i || !id.empty?)
      # The session in DER.
      def to_der = Native.x_der(__handle)
      # The session in PEM.
      def to_pem = Native.x_pem(__handle)
      # The parts of the session as text.
      def to_text = Native.x_text(__handle)
    end

    class SSLSocket
      # The part below Buffering.
      module Connection
        # `io`: The socket below.
        # `context`: The SSLContext.
        # `hostname`: The name that the server was called by, or nil.
        attr_reader :io, :context, :hostname
        alias to_io io
        # `sync_close`: Whether `close` closes the socket below, too.
        attr_accessor :sync_close
        alias sync_close? sync_close

        # A connection over a socket, or over anything that has `read_nonblock` and `write_nonblock`; next comes `connect` or `accept`.
        def initialize(io, context = SSLContext.new, sync_close: false)
          raise TypeError, "wrong argument type #{context.class} (expected OpenSSL/SSL/CTX)" unless context.is_a?(SSLContext)
          @io, @context = io, context
          context.setup
          real = io.respond_to?(:to_io) && !io.is_a?(SSLSocket) ? io.to_io : nil
          @__socket = real if real.is_a?(BasicSocket)
          unless @__socket || real || io.respond_to?(:read_nonblock) && io.respond_to?(:write_nonblock)
            raise TypeError, "wrong argument type #{io.class} (expected File)"
          end
          @__h = Native.ssl_new(context.__handle, @__socket)
          @__notes = context.session_new_cb || context.keylog_cb || context.renegotiation_cb
          @sync_close = sync_close
          super()
        end

        # Sets the name that the server is called by, and that its certificate has to have.
        def hostname=(name)
          Native.ssl_text(@__h, :name, name.to_str) if name
          @hostname = name
        end

        # Shakes hands as client; SSLError if that fails, as when the certificate is not verified.
        def connect
          begin_as(false)
          handshake("SSL_connect", true, true)
        end
        # Shakes hands as client as far as it goes at once; else SSLErrorWaitReadable or SSLErrorWaitWritable is raised, or a Symbol the answer with `exception: false`.
        def connect_nonblock(exception: true)
          begin_as(false)
          handshake("SSL_connect", false, exception)
        end
        # Shakes hands as server; SSLError if that fails.
        def accept
          begin_as(true)
          handshake("SSL_accept", true, true)
        end
        # Shakes hands as server as far as it goes at once; else SSLErrorWaitReadable or SSLErrorWaitWritable is raised, or a Symbol the answer with `exception: false`.
        def accept_nonblock(exception: true)
          begin_as(true)
          handshake("SSL_accept", false, exception)
        end

        private def begin_as(server)
          return if @__begun
          ctx = @context
          hello = server && (ctx.servername_cb || ctx.alpn_select_cb || ctx.session_get_cb)
          if !server && ctx.verify_hostname && @hostname && ctx.verify_mode != VERIFY_NONE
            Native.ssl_text(@__h, SSL.__send__(:ip?, @hostname) ? :address : :host, @hostname)
          end
          Native.ssl_begin(@__h, server, !!hello, !!ctx.verify_callback)
          @__begun, @__server = true, server
          # The first handshake is told before it begins.
          return unless ctx.renegotiation_cb
          @__told = true
          ctx.renegotiation_cb.call(self)
        end

        private def handshake(name, wait, exception)
          result = run(:handshake, nil, name, wait)
          return self if result == true && verified(name)
          return blocked(result, name == "SSL_connect" ? "connect" : "accept", exception) if result.is_a?(Symbol)
          raise SSLError, "#{name} returned=6 errno=0 peeraddr=#{__peer} state=#{state_text}"
        end

        private def blocked(result, what, exception)
          return result unless exception
          raise SSLErrorWaitReadable, "read would block" if result == :wait_readable
          raise SSLErrorWaitWritable, "write would block"
        end

        # A server has taken the client's certificate as it is when there is a verify_callback.
        private def verified(name)
          callback = @context.verify_callback
          return true if @__verified || !@__server || !callback || @context.verify_mode & VERIFY_PEER == 0 || session_reused? || !(cert = peer_cert)
          @__verified = true
          check = X509::StoreContext.new(@context.__verify_store, cert, peer_cert_chain)
          check.purpose = X509::PURPOSE_SSL_CLIENT
          check.__callback = callback
          good = check.verify
          Native.ssl_set_verify_result(@__h, check.error)
          return true if good
          stop
          raise SSLError, "#{name} returned=1 errno=0 peeraddr=#{__peer} state=error: certificate verify failed (#{check.error_string})"
        end

        # One operation, with what it asks on the way.
        private def run(what, arg, name, wait)
          while true
            result = Native.ssl_step(@__h, @__socket, what, arg, wait)
            note if @__notes
            unless @__socket
              moved = carry(result, wait)
              next if moved
            end
            return result unless result.is_a?(Array) || result == :again
            next if result == :again
            case result[0]
            when :hello then greeted(*result[1..])
            when :ask then Native.ssl_answer(@__h, *X509::StoreContext.__ask(@context.verify_callback, nil, *result[1..]))
            when :client_cert then present
            else failed(what, name, *result[1..])
            end
          end
        end

        # The certificate that the program has for this server. What the callback raises is a no.
        private def present
          pair = begin
            @context.client_cert_cb.call(self)
          rescue => e
            warn "exception in client_cert_cb is ignored: #{e.message} (#{e.class})"
            nil
          end
          cert, key = pair
          Native.ssl_client_cert(@__h, cert&.__handle, key&.__handle)
        end

        private def greeted(name, protocols, session_id, cached)
          context = @context
          answered = false
          begin
            if context.servername_cb && name
              other = context.servername_cb.call([self, name])
              raise ArgumentError, "servername_cb must return an OpenSSL::SSL::SSLContext object or nil" unless other.nil? || other.is_a?(SSLContext)
              if other
                other.setup
                context = @context = other
                @__notes ||= other.session_new_cb || other.keylog_cb || other.renegotiation_cb
                changed = other.__handle
              end
            end
            answered = true
            if context.alpn_select_cb && !protocols.empty?
              protocol = context.alpn_select_cb.call(protocols)
              raise TypeError, "wrong argument type #{protocol.nil? ? "nil" : protocol.class} (expected String)" unless protocol.is_a?(String)
              raise SSLError, "SSL_accept: ALPN protocol is none of the client's: #{protocol}" unless protocols.include?(protocol.b)
            end
            session = context.session_get_cb.call([self, session_id]) if context.session_get_cb && !session_id.empty? && !cached
          rescue Exception
            # The other side is told.
            Native.ssl_hello(@__h, nil, nil, nil, answered ? 120 : 112)
            Native.ssl_step(@__h, @__socket, :handshake, nil, false)
            carry(nil, false) unless @__socket
            raise
          end
          Native.ssl_hello(@__h, changed, protocol, session&.__handle, 0)
        end

        private def note
          sessions, lines, handshakes = Native.ssl_notes(@__h)
          context = @context
          sessions.each { |h| context.session_new_cb.call([self, Session.__wrap(h)]) } if context.session_new_cb
          lines.each { |line| context.keylog_cb.call(self, line) } if context.keylog_cb
          handshakes, @__told = handshakes - 1, false if @__told && handshakes > 0
          handshakes.times { context.renegotiation_cb.call(self) } if context.renegotiation_cb
        end

        # For what is no socket: bytes go through memory. True when something has come.
        private def carry(result, wait)
          out = Native.ssl_take(@__h)
          until out.empty?
            n = @io.write_nonblock(out, exception: false)
            if n == :wait_writable
              @io.wait_writable
            else
              out = out.byteslice(n..)
            end
          end
          return false if result != :wait_readable
          got = begin
            @io.read_nonblock(16_384, exception: false)
          rescue EOFError
            nil
          end
          if got == :wait_readable
            return false unless wait
            @io.wait_readable
          elsif got.nil? then Native.ssl_feed_end(@__h)
          else Native.ssl_feed(@__h, got)
          end
          true
        end

        private def failed(what, name, code, errno, state, reason, lines, verified, number)
          unexpected_end = number & 0x7f_ffff & 0xfff == 294 && reason.to_s.start_with?("unexpected eof")
          raise EOFError, "end of file reached" if what == :read && (unexpected_end || code == 5 && errno == 0)
          return if what == :shutdown
          raise SystemCallError.new(name, errno) if code == 5 && errno != 0
          reason = "#{reason} (#{Native.verify_text(verified)})" if reason == "certificate verify failed"
          message =
            case what
            when :handshake then "#{name} returned=#{code} errno=#{errno} peeraddr=#{__peer} state=#{state}#{": #{reason}" if reason}"
            else "#{name}#{": #{reason}" if reason}"
            end
          error = SSLError.new(message)
          error.instance_variable_set(:@errors, lines)
          raise error
        end

        def __peer
          @io.remote_address.inspect_sockaddr
        rescue StandardError
          "(null)"
        end
        def __get(what) = Native.ssl_get(@__h, what)
        private def state_text = __get(:state)[1]
        private def started = @__begun || raise(SSLError, "SSL session is not started yet")

        # Waits for at most `size` bytes, without the buffer; EOFError at the end.
        def sysread(size, buffer = nil) = read_some(size, buffer, true, true)
        private def sysread_nonblock(size, buffer = nil, exception: true) = read_some(size, buffer, false, exception)
        private def read_some(size, buffer, wait, exception)
          started
          raise ArgumentError, "negative string size (or size too big)" if size < 0
          buffer&.clear if size == 0
          return buffer || "".b if size == 0
          result =
            begin
              run(:read, size, "SSL_read", wait)
            rescue EOFError
              raise if wait || exception
              nil
            end
          case result
          when String then buffer ? buffer.replace(result) : result
          when nil
            raise EOFError, "end of file reached" if exception
          else blocked(result, "read", exception)
          end
        end

        # Sends a text without the buffer, and answers the number of bytes.
        def syswrite(text) = write_some(text, true, true)
        private def syswrite_nonblock(text, exception: true) = write_some(text, false, exception)
        private def write_some(text, wait, exception)
          started
          text = String.try_convert(text) || text.to_s
          return 0 if text.empty?
          result = run(:write, text, "SSL_write", wait)
          return result if result.is_a?(Integer)
          raise SSLError, "SSL_write" if result.nil?
          blocked(result, "write", exception)
        end

        # Says good-bye; the answer is not waited for.
        private def stop
          return if !@__begun || @__stopped
          @__stopped = true
          Native.ssl_step(@__h, @__socket, :shutdown, nil, false)
          carry(nil, false) unless @__socket
          nil
        rescue IOError, SystemCallError
          nil
        end

        # Says good-bye, and closes the socket if `sync_close` says so.
        def sysclose
          return if @__closed
          @__closed = true
          stop unless @io.closed?
          @io.close if @sync_close
          nil
        end

        # Nothing: reading ends with the connection.
        def close_read = nil
        # Says good-bye to the other end.
        def close_write = stop

        # The certificate of this end, or nil.
        def cert = (h = __get(:cert)) && X509::Certificate.__wrap(h)
        # The certificate of the other end, or nil.
        def peer_cert = (h = __get(:peer_cert)) && X509::Certificate.__wrap(h)
        # The certificates that the other end sent, its own first; nil before the handshake.
        def peer_cert_chain
          chain = __get(:chain)&.map { |h| X509::Certificate.__wrap(h) }
          # A server's list does not begin with the client's own.
          chain && @__server && (own = peer_cert) && chain.first != own ? [own, *chain] : chain
        end
        # The version of the protocol: "TLSv1.3".
        def ssl_version = __get(:version)
        # The cipher: `[name, version, bits, bits of the algorithm]`.
        def cipher = __get(:cipher)
        # The state of the handshake.
        def state = $VERBOSE ? __get(:state).join(": ") : __get(:state)[0]
        # The bytes that are decrypted and wait.
        def pending = __get(:pending)
        # The number of the verification's result: X509::V_OK, V_ERR_ constants.
        def verify_result = __get(:verify_result)
        # The names of the authorities that the server wants certificates of, or nil.
        def client_ca = __get(:client_ca)&.map { |h| X509::Name.__wrap(h) }
        # Whether the connection goes on with an earlier session.
        def session_reused? = __get(:reused?)
        # The session, or nil.
        def session = (h = __get(:session)) && Session.__wrap(h)
        # Sets the session to go on with, before the handshake.
        def session=(session)
          Native.ssl_set_session(@__h, session.__handle)
        end
        # The protocol that both ends chose by ALPN, or nil.
        def alpn_protocol = __get(:protocol)
        # The last message of this end's handshake.
        def finished_message = __get(:finished)
        # The last message of the other end's handshake.
        def peer_finished_message = __get(:peer_finished)
        # The other end's key of the key exchange, or nil.
        def tmp_key = (h = __get(:tmp_key)) && PKey.__wrap(h)
        # The name of the group of the key exchange.
        def group = __get(:group)
        # The name of the algorithm of this end's signature.
        def sigalg = __get(:sigalg)
        # The name of the algorithm of the other end's signature.
        def peer_sigalg = __get(:peer_sigalg)
        # Bytes that both ends can make of the connection's secret, by a label (RFC 5705).
        def export_keying_material(label, length, context = nil) = Native.ssl_export(@__h, label, length, context)

        # True if the other end's certificate is one of the host; SSLError if not.
        def post_connection_check(hostname)
          cert = peer_cert
          unless cert
            raise SSLError, using_anon_cipher? ? "the peer can't be verified: an anonymous cipher suite is used" : "the peer can't be verified: it sent no certificate"
          end
          raise SSLError, "hostname \"#{hostname}\" does not match the server certificate" unless SSL.verify_certificate_identity(cert, hostname)
          true
        end

        private def using_anon_cipher? = cipher&.first.to_s.match?(/\bADH\b|\bAECDH\b/)
      end
      private_constant :Connection

      include Connection
      include Buffering
      include SocketForwarder

      # Connects to a host and a port by TCP; next comes `connect`.
      def self.open(host, port, local_host = nil, local_port = nil, context: nil)
        socket = TCPSocket.open(host, port, local_host, local_port)
        context ? new(socket, context) : new(socket)
      end

      undef_method :initialize_copy
    end

    class SSLServer
      include SocketForwarder
      # Whether `accept` shakes hands, too.
      def start_immediately = @__start_immediately
      # Sets whether `accept` shakes hands, too.
      def start_immediately=(on)
        @__start_immediately = on
      end

      # A server over a TCPServer, with the context of its connections.
      def initialize(server, context)
        @__svr = @io = server
        @__ctx = context
        context.session_id_context ||= Digest.hexdigest("SHA256", "#{object_id} #{$0}")[0, 32] unless context.frozen?
        @__start_immediately = true
      end

      # The server below.
      def to_io = @__svr
      # Listens for connections, of which so many may wait.
      def listen(backlog = Socket::SOMAXCONN) = @__svr.listen(backlog)
      # Ends one direction of the server or both.
      def shutdown(how = Socket::SHUT_RDWR) = @__svr.shutdown(how)
      # Closes the server.
      def close = @__svr.close

      # Waits for a connection, and answers its SSLSocket after the handshake.
      def accept
        socket, = @__svr.accept
        begin
          ssl = SSLSocket.new(socket, @__ctx)
          ssl.sync_close = true
          ssl.accept if @__start_immediately
          ssl
        rescue Exception => e
          ssl ? ssl.close : socket.close
          raise e
        end
      end
    end
  end
end
