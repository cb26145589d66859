# Where a server is and how it lets one in (docs/cluster.md). What is secret of it is kept where no `inspect`, error or dump looks.
module RubyVM::Cluster
  # `redis://user:password@host:port/stream?db=1`, `rediss://`, `nats://user:password@host:port,host:port/subject`, `tls://`.
  class Address # :nodoc:
    PORTS = { "redis" => 6379, "rediss" => 6379, "nats" => 4222, "tls" => 4222 }.freeze
    FORM = %r{\A([a-z]+)://(?:([^/?#@]*)@)?([^/?#@]+)(?:/([^?#]*))?(?:\?([^#]*))?\z}
    PLACE = /\A(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?\z/

    # `places`: host and port, of NATS perhaps several: servers of one cluster.
    attr_reader :scheme, :places, :name, :database, :ca_file, :certificate, :verify

    # `secrets`: user:, password:, token:, nkey:, credentials: go before those of the URL.
    def initialize(url, user: nil, password: nil, token: nil, nkey: nil, credentials: nil, ca_file: nil, certificate: nil, key: nil, verify: true)
      found = FORM.match(String(url))
      # The text may hold a password: it is not shown.
      raise ArgumentError, "not an address of a server: redis://host/stream or nats://host/subject is (rediss:// and tls:// with TLS)" unless found
      @scheme, secrets, places, @name, query = found.captures
      raise ArgumentError, "no server of the kind #{@scheme.inspect} is known: redis, rediss, nats and tls are" unless PORTS[@scheme]
      @places = places.split(",", -1).map { |place| place_of(place) }
      raise ArgumentError, "one server of Redis, not #{@places.size}: Redis Cluster and Sentinel are not known here" if redis? && @places.size > 1
      @name = unescape(@name.to_s)
      @database = nil
      options = query.to_s.split("&").to_h { |pair| pair.split("=", 2).map { |part| unescape(part) }.then { |key, value| [key, value.to_s] } }
      @database = Integer(options.delete("db"), 10) if options["db"]
      raise ArgumentError, "unknown parameters in the address: #{options.keys.join(", ")}" unless options.empty?
      parts = secrets&.split(":", 2)&.map { |part| unescape(part) }
      url_user, url_password = parts
      # nats://token@host
      token ||= url_user if nats? && parts&.size == 1
      @user = hide(user || (url_user unless token || url_user&.empty?))
      @password = hide(password || url_password)
      @token = hide(token)
      @nkey, @credentials = hide(nkey), hide(credentials)
      raise ArgumentError, "nkey: and credentials: are for NATS" if redis? && (nkey || credentials)
      # Else its server would be asked again and again.
      File.open(ca_file) { nil } if ca_file
      @ca_file, @certificate, @verify = ca_file, certificate, verify
      # Marshal refuses an address, whether it has secrets or not.
      @sealed = hide("-")
      @key = hide(key)
      raise ArgumentError, "certificates are for rediss:// and tls://" if !tls? && (ca_file || certificate || key)
    end

    def nats? = @scheme == "nats" || @scheme == "tls"
    def redis? = !nats?
    def tls? = @scheme == "rediss" || @scheme == "tls"
    def user = reveal(@user)
    def password = reveal(@password)
    def token = reveal(@token)
    def nkey = reveal(@nkey)
    def credentials = reveal(@credentials)
    def host = @places[0][0]
    def key = reveal(@key)

    # The same server, another name on it.
    def with_name(name)
      copy = dup
      copy.instance_variable_set(:@name, name)
      copy
    end

    # Without secrets.
    def server = "#{@scheme}://#{@places.map { |host, port| "#{host.include?(":") ? "[#{host}]" : host}:#{port}" }.join(",")}"
    def to_s = "#{server}/#{@name}"
    def inspect = "#<RubyVM::Cluster::Address #{self}>"

    private

    def place_of(text)
      host, port = PLACE.match(text)&.captures
      raise ArgumentError, "not an address of a server: redis://host/stream or nats://host/subject is (rediss:// and tls:// with TLS)" unless host
      port = port ? Integer(port, 10) : PORTS[@scheme]
      raise ArgumentError, "port #{port} out of range" unless port.between?(1, 65_535)
      [host.start_with?("[") ? host[1..-2] : host, port].freeze
    end

    def hide(text) = text && Native.hide(String(text))
    def reveal(secret) = secret && Native.reveal(secret)

    def unescape(text)
      plain = text.b.gsub(/%([0-9A-Fa-f]{2})/) { $1.hex.chr }.force_encoding(Encoding::UTF_8)
      raise ArgumentError, "the address has bytes that are not UTF-8" unless plain.valid_encoding?
      plain
    end
  end
end
