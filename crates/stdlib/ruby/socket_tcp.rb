# socket: TCP, UDP and UNIX sockets, and servers made of them.
class IPSocket < BasicSocket
  def self.getaddress(host) = Sys.numeric(Sys.resolve(host, nil, nil, Socket::SOCK_STREAM).first[0])[0]

  def addr(reverse = nil) = Sys.described(getsockname, reverse, !do_not_reverse_lookup)
  def peeraddr(reverse = nil) = Sys.described(getpeername, reverse, !do_not_reverse_lookup)

  def recvfrom(max, flags = 0)
    text, from = __recv(max, flags, true, true)
    return nil if from.nil? && __end?(text, max)
    [text, from ? Sys.described(from, nil, !do_not_reverse_lookup) : nil]
  end

  def inspect
    return super if closed?
    family, port, _, ip = Sys.described(getsockname, false)
    "#{super.chomp(">")}, #{family}, #{ip}, #{port}>"
  rescue SystemCallError, SocketError
    super
  end
end

class TCPSocket < IPSocket
  def self.gethostbyname(name)
    warn("TCPSocket.gethostbyname is deprecated; use Addrinfo.getaddrinfo instead.", uplevel: 0, category: :deprecated)
    list = Socket.getaddrinfo(name, nil, nil, Socket::SOCK_STREAM, nil, Socket::AI_CANONNAME, false)
    found = Sys.resolve(name, nil, nil, Socket::SOCK_STREAM, nil, Socket::AI_CANONNAME)
    family = found.first[1]
    [found.first[4] || name.to_str, [], family, *list.select { |e| e[4] == family }.map { |e| e[3] }.uniq]
  end

  def initialize(host, service, local_host = nil, local_service = nil, connect_timeout: nil, resolv_timeout: nil, open_timeout: nil, fast_fallback: nil)
    if open_timeout && (connect_timeout || resolv_timeout)
      raise ArgumentError, "Cannot specify open_timeout along with connect_timeout or resolv_timeout"
    end
    deadline = open_timeout && Process.clock_gettime(Process::CLOCK_MONOTONIC) + open_timeout
    host = "127.0.0.1" if host == ""
    found = Sys.resolve(host, service, nil, Socket::SOCK_STREAM, timeout: resolv_timeout || open_timeout)
    local = local_host || local_service ? Sys.resolve(local_host, local_service, nil, Socket::SOCK_STREAM, nil, local_host ? 0 : Socket::AI_PASSIVE) : nil
    failure = nil
    found.each do |address, family, type, protocol|
      from = local&.find { |l| l[1] == family }
      next if local && !from
      begin
        __socket(family, type, protocol)
        if from
          __setsockopt(Socket::SOL_SOCKET, Socket::SO_REUSEADDR, [1].pack("i"))
          __bind(from[0], "bind(2) for #{local_host.inspect} port #{local_service}")
        end
        seconds = deadline ? [deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max : connect_timeout
        if __connect(address, true, seconds, "connect(2) for #{host.inspect} port #{service}") == :timeout
          raise IO::TimeoutError, "user specified timeout for #{host}:#{service}"
        end
        return __fresh
      rescue SystemCallError, IO::TimeoutError => failure
        close rescue IOError
      rescue Exception
        close rescue IOError
        raise
      end
    end
    raise failure if failure
    raise SocketError, "no address of #{host.inspect} fits #{local_host.inspect}"
  end
end

class TCPServer < TCPSocket
  def initialize(host = nil, service = (only = true))
    host, service = nil, host if only
    host = nil if host == ""
    found = Sys.resolve(host, service.nil? ? 0 : service, nil, Socket::SOCK_STREAM, nil, Socket::AI_PASSIVE)
    failure = nil
    found.each do |address, family, type, protocol|
      __socket(family, type, protocol)
      __setsockopt(Socket::SOL_SOCKET, Socket::SO_REUSEADDR, [1].pack("i"))
      __bind(address, "bind(2) for #{host.inspect} port #{service}")
      __listen(Socket::SOMAXCONN)
      return __fresh
    rescue SystemCallError => failure
      close rescue IOError
    end
    raise failure
  end

  def accept = __accept(TCPSocket, true)[0].__send__(:__fresh)

  def accept_nonblock(exception: true)
    got = __accept(TCPSocket, false)
    return Sys.later(got, "accept(2)", exception) if Symbol === got
    got[0].__send__(:__fresh)
  end

  def sysaccept = Sys.release(accept)
  def listen(backlog) = __listen(backlog)
end

class UDPSocket < IPSocket
  def initialize(family = Socket::AF_INET)
    __socket(Sys.family(family), Socket::SOCK_DGRAM, 0)
    __fresh
  end

  private def __to(host, port, passive = false)
    family = Sys.family_of(getsockname)
    Sys.resolve(host, port, family, Socket::SOCK_DGRAM, nil, passive ? Socket::AI_PASSIVE : 0)
  end

  # The first address for which the block goes well.
  private def __first(found)
    failure = nil
    found.each do |entry|
      return yield entry[0]
    rescue SystemCallError => failure
    end
    raise failure
  end

  def bind(host, port)
    host = nil if host == ""
    __first(__to(host, port, true)) { |a| __bind(a, "bind(2) for #{host.inspect} port #{port}") }
  end

  def connect(host, port)
    __first(__to(host, port)) { |a| __connect(a, true, nil, "connect(2) for #{host.inspect} port #{port}") }
    0
  end

  def send(message, flags, host = nil, port = (only = true))
    return super(message, flags, host) if only
    message = Sys.text(message)
    __first(__to(host, port)) { |a| __send(message, flags, a, true) }
  end

  def recvfrom_nonblock(max, flags = 0, buffer = nil, exception: true)
    text, from = got = __recv(max, flags, false, true)
    return Sys.later(got, "recvfrom(2)", exception) if Symbol === got
    [__into(buffer, text), from && Sys.described(from, nil, !do_not_reverse_lookup)]
  end
end

class UNIXSocket < BasicSocket
  def self.pair(type = nil, protocol = 0)
    pair = Sys.pair(self, Socket::AF_UNIX, type.nil? ? Socket::SOCK_STREAM : Sys.type(type), protocol)
    pair.each { |s| s.__send__(:__fresh) }
    return pair unless block_given?
    begin
      yield pair
    ensure
      pair.each(&:close)
    end
  end
  singleton_class.alias_method :socketpair, :pair

  def initialize(path)
    path = Sys.path(path)
    address = Socket.pack_sockaddr_un(path)
    __socket(Socket::AF_UNIX, Socket::SOCK_STREAM, 0)
    begin
      __connect(address, true, nil, "connect(2) for #{path}")
    rescue Exception
      close
      raise
    end
    __fresh
  end

  def getpeereid = __getsockopt(Socket::SOL_SOCKET, Socket::SO_PEERCRED).unpack("iII")[1..]
  def path = __path || __keep_path(Socket.unpack_sockaddr_un(getsockname))
  def addr = ["AF_UNIX", Socket.unpack_sockaddr_un(getsockname)]
  def peeraddr = ["AF_UNIX", Socket.unpack_sockaddr_un(getpeername)]

  def recvfrom(max, flags = 0, buffer = nil)
    text, from = __recv(max, flags, true, true)
    return nil if from.nil? && __end?(text, max)
    [__into(buffer, text), ["AF_UNIX", from ? Socket.unpack_sockaddr_un(from) : ""]]
  end

  def send_io(io)
    fd = Integer === io ? io : io.respond_to?(:to_io) ? io.to_io.fileno : raise(TypeError, "neither IO nor file descriptor")
    __sendmsg("\0", 0, nil, [[Socket::SOL_SOCKET, Socket::SCM_RIGHTS, [fd].pack("i")]], true)
    nil
  end

  def recv_io(class_of_io = IO, mode = nil)
    _, _, _, controls = __recvmsg(1, 0, 64, true)
    fds = controls.select { |level, type| level == Socket::SOL_SOCKET && type == Socket::SCM_RIGHTS }.flat_map { |c| c[2].unpack("i*") }
    fd, *rest = fds
    rest.each { |other| Sys.close(other) }
    raise SocketError, "file descriptor was not passed (msg_controllen=#{controls.size}, expected 24)" unless fd
    Sys.io(class_of_io, fd, mode)
  end

  def inspect
    return super if closed?
    path = self.path
    path.empty? ? super : "#{super.chomp(">")}, #{path}>"
  rescue SystemCallError
    super
  end
end

class UNIXServer < UNIXSocket
  def initialize(path)
    path = Sys.path(path)
    address = Socket.pack_sockaddr_un(path)
    __socket(Socket::AF_UNIX, Socket::SOCK_STREAM, 0)
    begin
      __bind(address, "bind(2) for #{path}")
      __listen(Socket::SOMAXCONN)
    rescue Exception
      close
      raise
    end
    __keep_path(path)
    __fresh
  end

  def accept = __accept(UNIXSocket, true)[0].__send__(:__fresh)

  def accept_nonblock(exception: true)
    got = __accept(UNIXSocket, false)
    return Sys.later(got, "accept(2)", exception) if Symbol === got
    got[0].__send__(:__fresh)
  end

  def sysaccept = Sys.release(accept)
  def listen(backlog) = __listen(backlog)
end

class Socket
  class << self
    # Connects to the first address that answers.
    def tcp(host, port, local_host = nil, local_port = nil, connect_timeout: nil, resolv_timeout: nil, open_timeout: nil, fast_fallback: tcp_fast_fallback)
      if open_timeout && (connect_timeout || resolv_timeout)
        raise ArgumentError, "Cannot specify open_timeout along with connect_timeout or resolv_timeout"
      end
      local = local_host || local_port ? Addrinfo.getaddrinfo(local_host, local_port, nil, :STREAM) : nil
      failure = socket = nil
      deadline = open_timeout && Process.clock_gettime(Process::CLOCK_MONOTONIC) + open_timeout
      Addrinfo.foreach(host, port, nil, :STREAM, timeout: resolv_timeout || open_timeout) do |address|
        from = local&.find { |l| l.afamily == address.afamily }
        next if local && !from
        begin
          timeout = deadline ? [deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max : connect_timeout
          socket = from ? address.connect_from(from, timeout:) : address.connect(timeout:)
          break
        rescue SystemCallError => failure
        end
      end
      unless socket
        # A time that is over is the host's where its addresses are tried side by side, else the address's.
        side_by_side = fast_fallback && !host.to_s.match?(/:|\A(\d{1,3}\.){3}\d{1,3}\z/) && local_port.to_i == 0
        if side_by_side && (deadline || connect_timeout) && Errno::ETIMEDOUT === failure && failure.message.include?("user specified")
          raise IO::TimeoutError, "user specified timeout for #{host}:#{port}"
        end
        raise failure if failure
        raise SocketError, "no appropriate local address"
      end
      return socket unless block_given?
      begin
        yield socket
      ensure
        socket.close
      end
    end

    attr_accessor :tcp_fast_fallback

    private def __close_all(sockets) = sockets.each { |s| s.close unless s.closed? }

    private def __with_all(sockets)
      return sockets unless block_given?
      begin
        yield sockets
      ensure
        __close_all(sockets)
      end
    end

    # Sockets for all addresses on one port, which the system chooses when it is 0.
    private def __servers(host, port, type)
      3.times do |try|
        sockets = []
        number = port
        begin
          Addrinfo.foreach(host, port, nil, type, nil, AI_PASSIVE) do |address|
            address = Addrinfo.new(pack_sockaddr_in(number, address.ip_address), address.pfamily, address.socktype, address.protocol) if number != port
            begin
              sockets << (type == :STREAM ? address.listen : address.bind)
            rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
              next
            end
            number = sockets.last.local_address.ip_port if port.to_s == "0"
          end
          raise Errno::EADDRNOTAVAIL, "no address to listen on" if sockets.empty?
          return sockets
        rescue Errno::EADDRINUSE
          __close_all(sockets)
          raise if port.to_s != "0" || try == 2
        rescue Exception
          __close_all(sockets)
          raise
        end
      end
    end

    def tcp_server_sockets(host = nil, port, &block) = __with_all(__servers(host, port, :STREAM), &block)

    def accept_loop(*sockets)
      sockets.flatten!(1)
      raise ArgumentError, "no sockets" if sockets.empty?
      loop do
        ready, = IO.select(sockets)
        ready.each do |server|
          socket, address = server.accept_nonblock(exception: false)
          yield socket, address unless socket == :wait_readable
        end
      end
    end

    def tcp_server_loop(host = nil, port, &block) = tcp_server_sockets(host, port) { |sockets| accept_loop(sockets, &block) }

    def udp_server_sockets(host = nil, port, &block) = __with_all(__servers(host, port, :DGRAM), &block)

    def udp_server_recv(sockets)
      sockets.each do |socket|
        text, from, = socket.recvmsg_nonblock(exception: false)
        next if text == :wait_readable || text.nil?
        yield text, UDPSource.new(from, socket.local_address) { |reply| socket.send(reply, 0, from) }
      end
    end

    def udp_server_loop_on(sockets, &block)
      loop do
        ready, = IO.select(sockets)
        udp_server_recv(ready, &block)
      end
    end

    def udp_server_loop(host = nil, port, &block) = udp_server_sockets(host, port) { |sockets| udp_server_loop_on(sockets, &block) }

    def unix(path)
      socket = Addrinfo.unix(path).connect
      return socket unless block_given?
      begin
        yield socket
      ensure
        socket.close
      end
    end

    def unix_server_socket(path)
      begin
        File.unlink(path) if !path.start_with?("\0") && File.socket?(path)
      rescue Errno::ENOENT
      end
      socket = Addrinfo.unix(path).listen
      return socket unless block_given?
      begin
        yield socket
      ensure
        socket.close unless socket.closed?
        File.unlink(path) if !path.start_with?("\0") && File.socket?(path)
      end
    end

    def unix_server_loop(path, &block) = unix_server_socket(path) { |server| accept_loop(server, &block) }
  end
  self.tcp_fast_fallback = true

  private_constant :Sys
end
