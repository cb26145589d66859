# OpenSSL::X509::Store: whom to trust, and whether a chain leads there.
module OpenSSL
  module X509
    {
      OK: 0, ERR_UNSPECIFIED: 1, ERR_UNABLE_TO_GET_ISSUER_CERT: 2, ERR_UNABLE_TO_GET_CRL: 3, ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE: 4, ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE: 5,
      ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: 6, ERR_CERT_SIGNATURE_FAILURE: 7, ERR_CRL_SIGNATURE_FAILURE: 8, ERR_CERT_NOT_YET_VALID: 9, ERR_CERT_HAS_EXPIRED: 10,
      ERR_CRL_NOT_YET_VALID: 11, ERR_CRL_HAS_EXPIRED: 12, ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD: 13, ERR_ERROR_IN_CERT_NOT_AFTER_FIELD: 14, ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD: 15,
      ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD: 16, ERR_OUT_OF_MEM: 17, ERR_DEPTH_ZERO_SELF_SIGNED_CERT: 18, ERR_SELF_SIGNED_CERT_IN_CHAIN: 19, ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 20,
      ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: 21, ERR_CERT_CHAIN_TOO_LONG: 22, ERR_CERT_REVOKED: 23, ERR_INVALID_CA: 79, ERR_PATH_LENGTH_EXCEEDED: 25, ERR_INVALID_PURPOSE: 26,
      ERR_CERT_UNTRUSTED: 27, ERR_CERT_REJECTED: 28, ERR_SUBJECT_ISSUER_MISMATCH: 29, ERR_AKID_SKID_MISMATCH: 30, ERR_AKID_ISSUER_SERIAL_MISMATCH: 31, ERR_KEYUSAGE_NO_CERTSIGN: 32,
      ERR_UNABLE_TO_GET_CRL_ISSUER: 33, ERR_UNHANDLED_CRITICAL_EXTENSION: 34, ERR_KEYUSAGE_NO_CRL_SIGN: 35, ERR_UNHANDLED_CRITICAL_CRL_EXTENSION: 36, ERR_INVALID_NON_CA: 37,
      ERR_PROXY_PATH_LENGTH_EXCEEDED: 38, ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE: 39, ERR_PROXY_CERTIFICATES_NOT_ALLOWED: 40, ERR_INVALID_EXTENSION: 41, ERR_INVALID_POLICY_EXTENSION: 42,
      ERR_NO_EXPLICIT_POLICY: 43, ERR_DIFFERENT_CRL_SCOPE: 44, ERR_UNSUPPORTED_EXTENSION_FEATURE: 45, ERR_UNNESTED_RESOURCE: 46, ERR_PERMITTED_VIOLATION: 47, ERR_EXCLUDED_VIOLATION: 48,
      ERR_SUBTREE_MINMAX: 49, ERR_APPLICATION_VERIFICATION: 50, ERR_UNSUPPORTED_CONSTRAINT_TYPE: 51, ERR_UNSUPPORTED_CONSTRAINT_SYNTAX: 52, ERR_UNSUPPORTED_NAME_SYNTAX: 53,
      ERR_CRL_PATH_VALIDATION_ERROR: 54, ERR_PATH_LOOP: 55, ERR_SUITE_B_INVALID_VERSION: 56, ERR_SUITE_B_INVALID_ALGORITHM: 57, ERR_SUITE_B_INVALID_CURVE: 58,
      ERR_SUITE_B_INVALID_SIGNATURE_ALGORITHM: 59, ERR_SUITE_B_LOS_NOT_ALLOWED: 60, ERR_SUITE_B_CANNOT_SIGN_P_384_WITH_P_256: 61, ERR_HOSTNAME_MISMATCH: 62, ERR_EMAIL_MISMATCH: 63,
      ERR_IP_ADDRESS_MISMATCH: 64, ERR_DANE_NO_MATCH: 65, ERR_EE_KEY_TOO_SMALL: 66, ERR_CA_KEY_TOO_SMALL: 67, ERR_CA_MD_TOO_WEAK: 68, ERR_INVALID_CALL: 69, ERR_STORE_LOOKUP: 70,
      ERR_NO_VALID_SCTS: 71, ERR_PROXY_SUBJECT_NAME_VIOLATION: 72, ERR_OCSP_VERIFY_NEEDED: 73, ERR_OCSP_VERIFY_FAILED: 74, ERR_OCSP_CERT_UNKNOWN: 75,
      FLAG_USE_CHECK_TIME: 0x2, FLAG_CRL_CHECK: 0x4, FLAG_CRL_CHECK_ALL: 0x8, FLAG_IGNORE_CRITICAL: 0x10, FLAG_X509_STRICT: 0x20, FLAG_ALLOW_PROXY_CERTS: 0x40, FLAG_POLICY_CHECK: 0x80, FLAG_EXPLICIT_POLICY: 0x100,
      FLAG_INHIBIT_ANY: 0x200, FLAG_INHIBIT_MAP: 0x400, FLAG_NOTIFY_POLICY: 0x800, FLAG_EXTENDED_CRL_SUPPORT: 0x1000, FLAG_USE_DELTAS: 0x2000, FLAG_CHECK_SS_SIGNATURE: 0x4000,
      FLAG_TRUSTED_FIRST: 0x8000, FLAG_SUITEB_128_LOS_ONLY: 0x10000, FLAG_SUITEB_192_LOS: 0x20000, FLAG_SUITEB_128_LOS: 0x30000, FLAG_PARTIAL_CHAIN: 0x80000, FLAG_NO_ALT_CHAINS: 0x100000,
      FLAG_NO_CHECK_TIME: 0x200000
    }.each { |name, n| const_set(:"V_#{name}", n) }
    PURPOSE_SSL_CLIENT, PURPOSE_SSL_SERVER, PURPOSE_NS_SSL_SERVER, PURPOSE_SMIME_SIGN, PURPOSE_SMIME_ENCRYPT, PURPOSE_CRL_SIGN, PURPOSE_ANY, PURPOSE_OCSP_HELPER, PURPOSE_TIMESTAMP_SIGN,
      PURPOSE_CODE_SIGN = *1..10
    TRUST_COMPAT, TRUST_SSL_CLIENT, TRUST_SSL_SERVER, TRUST_EMAIL, TRUST_OBJECT_SIGN, TRUST_OCSP_SIGN, TRUST_OCSP_REQUEST, TRUST_TSA = *1..8

    # Settings and contents are kept beside the handle: another VM makes its own from them.
    class Store
      # `error`: The number of the last verification's error, 0 for none.
      # `error_string`: The text of the last verification's error.
      # `chain`: The certificates of the last verification, the first one's own first.
      attr_reader :error, :error_string, :chain
      # `verify_callback`: What is called with each certificate of a verification, or nil.
      attr_reader :verify_callback

      # A store that trusts nobody.
      def initialize(*arguments)
        warn "#{self.class}::new does not take any arguments" unless arguments.empty?
        @verify_callback, @error, @error_string, @chain = nil
        @__parts = []
        @__holder = Holder.new
      end

      # Has the handle, which can change although the object is frozen.
      class Holder
        attr_accessor :handle
      end
      private_constant :Holder

      undef_method :initialize_copy

      def __handle
        return @__holder.handle if @__holder && Native.alive?(@__holder.handle)
        raise StoreError, "uninitialized store" unless @__holder
        @__holder.handle = Native.store_new
        @__parts.each { |part| apply(part) }
        if @__later
          @__later = false
          set_default_paths
        end
        @__holder.handle
      end

      private def apply((what, value))
        handle = @__holder.handle
        case what
        when :add then Native.store_add(handle, value.__handle)
        when :file, :path then Native.store_load(handle, what, value)
        when :clear_flags then Native.store_flags(handle, value)
        else Native.store_set(handle, what, value)
        end
      end
      private def part(what, value)
        __handle
        apply([what, value])
        @__parts << [what, value]
        value
      end

      # Trusts a certificate, and answers the store.
      def add_cert(cert)
        part(:add, cert.is_a?(Certificate) ? cert : raise(TypeError, "wrong argument type #{cert.class} (expected OpenSSL/X509)"))
        self
      end
      # Adds a list of revoked certificates, and answers the store.
      def add_crl(crl)
        part(:add, crl.is_a?(CRL) ? crl : raise(TypeError, "wrong argument type #{crl.class} (expected OpenSSL/X509/CRL)"))
        self
      end
      # Trusts the certificates of a file in PEM, and answers the store.
      def add_file(path)
        part(:file, File.expand_path(path))
        self
      end
      # Trusts the certificates of directories, whose files are named by hashes, and answers the store.
      def add_path(path)
        part(:path, path.split(":").map { |one| File.expand_path(one) }.join(":"))
        self
      end
      # The default paths, once somebody needs the handle.
      private def later
        @__later = true
      end

      # The environment is the VM's, not the process's.
      def set_default_paths
        { file: [DEFAULT_CERT_FILE_ENV, DEFAULT_CERT_FILE], path: [DEFAULT_CERT_DIR_ENV, DEFAULT_CERT_DIR] }.each do |what, (variable, default)|
          path = ENV[variable] || default
          next if path.empty? || what == :file && !File.exist?(path)
          what == :file ? add_file(path) : add_path(path)
        rescue StoreError
          nil
        end
        nil
      end
      # The flags, bits of X509::V_FLAG_ constants.
      def flags = Native.store_flags(__handle, 0)
      # Sets flags beside those that are set.
      def flags=(n)
        warn "Store#flags= sets flags beside those that are set; use clear_flags" if flags != 0
        part(:flags, n)
      end
      # Clears flags, without an argument all.
      def clear_flags(n = 0xffff_ffff)
        part(:clear_flags, n)
        nil
      end
      # Sets what certificates have to be good for: X509::PURPOSE_ constants.
      def purpose=(n)
        part(:purpose, n)
      end
      # Sets what authorities have to be trusted for: X509::TRUST_ constants.
      def trust=(n)
        part(:trust, n)
      end
      # Sets the time at which certificates have to be valid; without it that is now.
      def time=(time)
        part(:time, time.to_i)
      end
      # Sets what is called with `(good, context)` for each certificate, and answers whether to go on.
      def verify_callback=(callback)
        @verify_callback = callback
      end

      # Whether a chain of certificates leads from `cert` to one that is trusted; `chain` has others that may help.
      def verify(cert, chain = nil, &block)
        context = StoreContext.new(self, cert, chain)
        context.__callback = block || @verify_callback
        good = context.verify
        @error, @error_string, @chain = context.error, context.error_string, context.chain
        good
      end
    end

    # One verification. The callback gets it as it was at the place in question; what it answers is played to OpenSSL when the chain is verified anew.
    class StoreContext
      # `error`: The number of the error, 0 for none.
      # `error_depth`: The place of the certificate in the chain.
      # `current_cert`: The certificate in question.
      # `chain`: The certificates so far.
      attr_accessor :error, :error_depth, :current_cert, :chain

      def self.__at(error, depth, cert, chain)
        context = allocate
        context.error, context.error_depth, context.current_cert, context.chain = error, depth, cert, chain
        context
      end

      # A verification of a certificate, by a store.
      def initialize(store, cert = nil, chain = nil)
        raise TypeError, "wrong argument type #{store.class} (expected OpenSSL/X509/STORE)" unless store.is_a?(Store)
        @__store, @cert, @__untrusted = store, cert, chain&.to_a
        @__callback = store.verify_callback
        @error, @error_depth = 0, 0
        @__settings = [nil, nil, nil, nil]
      end

      def __callback=(callback)
        @__callback = callback
      end
      # Sets flags for this verification, beside those that are set.
      def flags=(n)
        set_flags(flags | Given.integer(n))
      end
      # The flags of this verification, bits of X509::V_FLAG_ constants: first those of the store.
      def flags = @__settings[0] || Native.store_flags(@__store.__handle, 0) | V_FLAG_TRUSTED_FIRST
      # Clears flags of this verification, without an argument all.
      def clear_flags(n = 0xffff_ffff)
        set_flags(flags & ~Given.integer(n))
        nil
      end
      # Those of the store are cleared, and these are set.
      private def set_flags(n)
        @__settings[4] = 0xffff_ffff
        @__settings[0] = n
      end
      # Sets what certificates have to be good for.
      def purpose=(n)
        @__settings[1] = n
      end
      # Sets what authorities have to be trusted for.
      def trust=(n)
        @__settings[2] = n
      end
      # Sets the time at which certificates have to be valid.
      def time=(time)
        @__settings[3] = time.to_i
      end
      # Nil: lists are not told.
      def current_crl = nil
      # Changes nothing; deprecated.
      def cleanup
        warn "(#{caller.first}) OpenSSL::X509::StoreContext#cleanup is deprecated with no replacement" if $VERBOSE
      end
      undef_method :initialize_copy
      # The text of the error.
      def error_string = Native.verify_text(@error || 0)

      # Whether a chain leads to a certificate that is trusted.
      def verify
        answers = @__callback ? [] : nil
        while true
          result = Native.store_verify(@__store.__handle, @cert&.__handle, @__untrusted&.map(&:__handle), @__settings, answers)
          if result[0] == :ask
            answers << StoreContext.__ask(@__callback, self, *result[1..])
          else
            good, @error, @error_depth, cert, chain = result
            @current_cert = cert && Certificate.__wrap(cert)
            @chain = chain.map { |h| Certificate.__wrap(h) }
            return good
          end
        end
      end

      # [goes on, error]: what the callback says about a certificate. What it raises is a no.
      def self.__ask(callback, context, ok, error, depth, cert, chain)
        context ||= __at(nil, nil, nil, nil)
        context.error, context.error_depth = error, depth
        context.current_cert = cert && Certificate.__wrap(cert)
        context.chain = chain.map { |h| Certificate.__wrap(h) }
        begin
          answer = callback.call(ok, context)
        rescue => e
          warn "exception in verify_callback is ignored: #{e.message} (#{e.class})"
          answer = false
        end
        error = context.error
        if answer == true
          [true, ok ? error : 0]
        else
          [false, error == 0 ? V_ERR_CERT_REJECTED : error]
        end
      end
    end
  end
end
