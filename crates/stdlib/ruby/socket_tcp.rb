# socket: TCP, UDP and UNIX sockets, and servers made of them.
class IPSocket < BasicSocket
  # The first address of a host, as text; Socket::ResolutionError if there is none.
  def self.getaddress(host) = Sys.numeric(Sys.resolve(host, nil, nil, Socket::SOCK_STREAM).first[0])[0]

  # `[family, port, host, address]` of this end; `reverse` tells whether the host is looked up: true or :hostname, false or :numeric.
  def addr(reverse = nil) = Sys.described(getsockname, reverse, !do_not_reverse_lookup)
  # `[family, port, host, address]` of the other end; `reverse` tells whether the host is looked up: true or :hostname, false or :numeric.
  def peeraddr(reverse = nil) = Sys.described(getpeername, reverse, !do_not_reverse_lookup)

  # Waits for a message: `[text, [family, port, host, address]]`, of a connected stream nil in place of the address. Nil at the end of a stream.
  def recvfrom(max, flags = 0)
    text, from = __recv(max, flags, true, true)
    return nil if from.nil? && __end?(text, max)
    [text, from ? Sys.described(from, nil, !do_not_reverse_lookup) : nil]
  end

  # The descriptor with family, address and port.
  def inspect
    return super if closed?
    family, port, _, ip = Sys.described(getsockname, false)
    "#{super.chomp(">")}, #{family}, #{ip}, #{port}>"
  rescue SystemCallError, SocketError
    super
  end
end

class TCPSocket < IPSocket
  # `[name, [], family, address, ...]` of a host. Deprecated: Addrinfo.getaddrinfo.
  def self.gethostbyname(name)
    warn("TCPSocket.gethostbyname is deprecated; use Addrinfo.getaddrinfo instead.", uplevel: 0, category: :deprecated)
    list = Socket.getaddrinfo(name, nil, nil, Socket::SOCK_STREAM, nil, Socket::AI_CANONNAME, false)
    found = Sys.resolve(name, nil, nil, Socket::SOCK_STREAM, nil, Socket::AI_CANONNAME)
    family = found.first[1]
    [found.first[4] || name.to_str, [], family, *list.select { |e| e[4] == family }.map { |e| e[3] }.uniq]
  end

  # Connects to a host and a service (a port or its name): to the first address that answers, of both families side by side with `fast_fallback` (as Socket.tcp). Times are in seconds: `connect_timeout` of each address,
  # `resolv_timeout` of the name, `open_timeout` of all together. `test_mode_settings` is for tests: milliseconds by which the addresses of a family come later (`{ delay: { ipv4: 10 } }`), and
  # that they can't be had (`{ error: { ipv6: Socket::EAI_FAIL } }`).
  #
  #     TCPServer.open("127.0.0.1", 0) { |s| TCPSocket.open("127.0.0.1", s.addr[1]) { |c| c.peeraddr[1] == s.addr[1] } }   #=> true
  def initialize(host, service, local_host = nil, local_service = nil, connect_timeout: nil, resolv_timeout: nil, open_timeout: nil, fast_fallback: Socket.tcp_fast_fallback,
    test_mode_settings: nil)
    if open_timeout && (connect_timeout || resolv_timeout)
      raise ArgumentError, "Cannot specify open_timeout along with connect_timeout or resolv_timeout"
    end
    # The addresses of localhost are there at once, in one answer.
    if fast_fallback && (test_mode_settings || host.to_s != "localhost")
      begin
        socket = Socket.__send__(:__race, host, service, local_host, local_service, connect_timeout, resolv_timeout, open_timeout, test_mode_settings)
      rescue SystemCallError => e
        raise e.class, "connect(2) for #{host.inspect} port #{service}"
      rescue IO::TimeoutError
        raise IO::TimeoutError, "user specified timeout for #{host} port #{service}"
      end
      if socket
        __adopt(Sys.release(socket))
        return __fresh
      end
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
  # Listens on a port of all addresses, or of a host's; port 0 lets the system choose one.
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

  # Waits for a connection, and answers its TCPSocket.
  def accept = __accept(TCPSocket, true)[0].__send__(:__fresh)

  # A connection's TCPSocket if one waits; else IO::WaitReadable is raised, or `:wait_readable` the answer with `exception: false`.
  def accept_nonblock(exception: true)
    got = __accept(TCPSocket, false)
    return Sys.later(got, "accept(2)", exception) if Symbol === got
    got[0].__send__(:__fresh)
  end

  # Waits for a connection, and answers its file descriptor, which the caller has to close.
  def sysaccept = Sys.release(accept)
  # Sets how many connections may wait to be accepted; answers 0.
  def listen(backlog) = __listen(backlog)
end

class UDPSocket < IPSocket
  # A socket for datagrams, of AF_INET unless told otherwise.
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

  # Takes messages that come to a port of a host; "" is every address. Answers 0.
  def bind(host, port)
    host = nil if host == ""
    __first(__to(host, port, true)) { |a| __bind(a, "bind(2) for #{host.inspect} port #{port}") }
  end

  # Names the address that `send` sends to; answers 0.
  def connect(host, port)
    __first(__to(host, port)) { |a| __connect(a, true, nil, "connect(2) for #{host.inspect} port #{port}") }
    0
  end

  # Sends a message, to a host and port unless the socket is connected; answers the number of bytes.
  def send(message, flags, host = nil, port = (only = true))
    return super(message, flags, host) if only
    message = Sys.text(message)
    __first(__to(host, port)) { |a| __send(message, flags, a, true, "sendto(2) for #{host.inspect} port #{port}") }
  end

  # A message that is there already: `[text, [family, port, host, address]]`; else IO::WaitReadable is raised, or `:wait_readable` the answer with `exception: false`.
  def recvfrom_nonblock(max, flags = 0, buffer = nil, exception: true)
    text, from = got = __recv(max, flags, false, true)
    return Sys.later(got, "recvfrom(2)", exception) if Symbol === got
    [__into(buffer, text), from && Sys.described(from, nil, !do_not_reverse_lookup)]
  end
end

class UNIXSocket < BasicSocket
  # Two sockets that are connected with each other; with a block they are yielded, and closed when it ends.
  #
  #     UNIXSocket.pair { |a, b| a.write("hi"); b.readpartial(9) }   #=> "hi"
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

  # Connects to the server at a path of the file system, or of an abstract name that begins with NUL.
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

  # `[user, group]` of the process at the other end, as numbers.
  def getpeereid = __getsockopt(Socket::SOL_SOCKET, Socket::SO_PEERCRED).unpack("iII")[1..]
  # The path that the socket is bound to; "" if none.
  def path = __path || __keep_path(Socket.unpack_sockaddr_un(getsockname))
  # `["AF_UNIX", path]` of this end.
  def addr = ["AF_UNIX", Socket.unpack_sockaddr_un(getsockname)]
  # `["AF_UNIX", path]` of the other end.
  def peeraddr = ["AF_UNIX", Socket.unpack_sockaddr_un(getpeername)]

  # Waits for a message: `[text, ["AF_UNIX", path]]`; nil at the end of a stream.
  def recvfrom(max, flags = 0, buffer = nil)
    text, from = __recv(max, flags, true, true)
    return nil if from.nil? && __end?(text, max)
    [__into(buffer, text), ["AF_UNIX", from ? Socket.unpack_sockaddr_un(from) : ""]]
  end

  # Hands an open file over to the other process, by an IO or a descriptor; answers nil.
  def send_io(io)
    fd = Integer === io ? io : io.respond_to?(:to_io) ? io.to_io.fileno : raise(TypeError, "neither IO nor file descriptor")
    __sendmsg("\0", 0, nil, [[Socket::SOL_SOCKET, Socket::SCM_RIGHTS, [fd].pack("i")]], true)
    nil
  end

  # Waits for an open file of the other process, and answers it as `class_of_io`, or its descriptor if that is nil; SocketError if a message brings none.
  def recv_io(class_of_io = IO, mode = nil)
    _, _, _, controls = __recvmsg(1, 0, 64, true)
    fds = controls.select { |level, type| level == Socket::SOL_SOCKET && type == Socket::SCM_RIGHTS }.flat_map { |c| c[2].unpack("i*") }
    fd, *rest = fds
    rest.each { |other| Sys.close(other) }
    raise SocketError, "file descriptor was not passed (msg_controllen=#{controls.size}, expected 24)" unless fd
    Sys.io(class_of_io, fd, mode)
  end

  # The descriptor, and the path if the socket has one.
  def inspect
    return super if closed?
    path = self.path
    path.empty? ? super : "#{super.chomp(">")}, #{path}>"
  rescue SystemCallError
    super
  end
end

class UNIXServer < UNIXSocket
  # Listens at a path of the file system, which must not exist yet, or of an abstract name that begins with NUL.
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

  # Waits for a connection, and answers its UNIXSocket.
  def accept = __accept(UNIXSocket, true)[0].__send__(:__fresh)

  # A connection's UNIXSocket if one waits; else IO::WaitReadable is raised, or `:wait_readable` the answer with `exception: false`.
  def accept_nonblock(exception: true)
    got = __accept(UNIXSocket, false)
    return Sys.later(got, "accept(2)", exception) if Symbol === got
    got[0].__send__(:__fresh)
  end

  # Waits for a connection, and answers its file descriptor, which the caller has to close.
  def sysaccept = Sys.release(accept)
  # Sets how many connections may wait to be accepted; answers 0.
  def listen(backlog) = __listen(backlog)
end

class Socket
  # Who of a host's addresses answers first (RFC 8305). A thread for each question and each attempt tells through a queue what came of it; who is late is ended.
  class Race
    # Seconds that addresses of IPv4 wait for those of IPv6.
    RESOLUTION_DELAY = 0.05
    # Seconds that an attempt has before the next one begins.
    ATTEMPT_DELAY = 0.25

    # `local`: the addresses to connect from, or nil.
    def initialize(host, port, local, connect_timeout, resolv_timeout, open_timeout, settings = nil)
      @host, @port, @local, @settings = host, port, local, settings
      @connect_timeout, @resolv_timeout, @open_timeout = connect_timeout, resolv_timeout, open_timeout
      @events, @threads = Thread::Queue.new, []
      @asked = [AF_INET6, AF_INET]
      @asked.select! { |family| local.any? { |l| l.afamily == family } } if local
      @found = { AF_INET6 => [], AF_INET => [] }
      @attempts = 0
    end

    # A connected Socket; nil where no threads can be had.
    def run
      start = now
      deadline, resolved = @open_timeout && start + @open_timeout, @resolv_timeout && start + @resolv_timeout
      @asked.each { |family| ask(family) }
      while true
        late if deadline && now >= deadline
        if resolved && !@asked.empty? && now >= resolved
          @asked.clear
          @unresolved = true
        end
        refuse if @asked.empty? && idle?
        waiting = [deadline, (resolved unless @asked.empty?)]
        if @found.any? { |_, list| !list.empty? }
          at = [@held, @following].compact.max
          next attempt if !at || now >= at
          waiting << at
        end
        at = waiting.compact.min
        what, who, list = @events.pop(timeout: at && [at - now, 0].max)
        case what
        when :found
          @asked.delete(who)
          @found[who].concat(list) if list
          @held = who == AF_INET && @asked.include?(AF_INET6) && !@following ? now + RESOLUTION_DELAY : nil
        when :unknown
          @asked.delete(who)
          @unknown = list
          @held = nil
        when :refused
          @attempts -= 1
          @refused = who
          @following = now
        when :connected
          return who
        end
      end
    rescue ThreadError
      nil
    ensure
      @threads.each(&:kill)
      @events.close
      while (event = @events.pop)
        event[1].close if event[0] == :connected
      end
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    def idle? = @attempts == 0 && @found.all? { |_, list| list.empty? }
    def late = raise(IO::TimeoutError, "user specified timeout for #{@host}:#{@port}")

    # Nobody is left to answer.
    def refuse
      late if @unresolved || (@connect_timeout || @open_timeout) && Errno::ETIMEDOUT === @refused && @refused.message.include?("user specified")
      error = @refused || @unknown || SocketError.new("no appropriate local address")
      error.set_backtrace(caller(0))
      raise error
    end

    def thread(&)
      @threads << Thread.new(&)
      @threads.last.report_on_exception = false
    end

    def ask(family)
      thread do
        pretend(family == AF_INET6 ? :ipv6 : :ipv4) if @settings
        @events << [:found, family, Addrinfo.getaddrinfo(@host, @port, family, :STREAM, timeout: @open_timeout || @resolv_timeout)]
      rescue ClosedQueueError
      rescue Exception => e
        @events << [:unknown, family, e]
      end
    end

    def pretend(family)
      sleep(@settings.dig(:delay, family) / 1000r) if @settings.dig(:delay, family)
      raise ResolutionError, "getaddrinfo(3): error #{@settings.dig(:error, family)}" if @settings.dig(:error, family)
    end

    # Tries the next address, of the other family than the last one if there is one.
    def attempt
      family = @family == AF_INET6 ? AF_INET : AF_INET6
      @family = @found[family].empty? ? (family == AF_INET6 ? AF_INET : AF_INET6) : family
      address = @found[@family].shift
      from = @local&.find { |l| l.afamily == @family }
      @attempts += 1
      @held, @following = nil, now + ATTEMPT_DELAY
      thread do
        timeout = @connect_timeout
        socket = from ? address.connect_from(from, timeout:) : address.connect(timeout:)
        begin
          @events << [:connected, socket]
        rescue ClosedQueueError
          socket.close
        end
      rescue Exception => e
        @events << [:refused, e]
      end
    end
  end
  private_constant :Race

  class << self
    # Connects to the first address that answers.
    def tcp(host, port, local_host = nil, local_port = nil, connect_timeout: nil, resolv_timeout: nil, open_timeout: nil, fast_fallback: tcp_fast_fallback)
      if open_timeout && (connect_timeout || resolv_timeout)
        raise ArgumentError, "Cannot specify open_timeout along with connect_timeout or resolv_timeout"
      end
      socket = fast_fallback && __race(host, port, local_host, local_port, connect_timeout, resolv_timeout, open_timeout)
      local = local_host || local_port ? Addrinfo.getaddrinfo(local_host, local_port, nil, :STREAM) : nil unless socket
      socket ||= __one_by_one(host, port, local, connect_timeout, resolv_timeout, open_timeout)
      return socket unless block_given?
      begin
        yield socket
      ensure
        socket.close
      end
    end

    # Whether `Socket.tcp` asks for both families' addresses of a host at once and tries the next one while the last has not answered.
    attr_accessor :tcp_fast_fallback

    # nil for hosts that are addresses, which are of one family, and for ports to connect from.
    private def __race(host, port, local_host, local_port, connect_timeout, resolv_timeout, open_timeout, settings = nil)
      return if host.to_s.match?(/\A\z|:|\A(\d{1,3}\.){3}\d{1,3}\z/) || local_port.to_i != 0
      local = local_host || local_port ? Addrinfo.getaddrinfo(local_host, local_port, nil, :STREAM) : nil
      Race.new(host, port, local, connect_timeout, resolv_timeout, open_timeout, settings).run
    end

    private def __one_by_one(host, port, local, connect_timeout, resolv_timeout, open_timeout)
      failure = nil
      deadline = open_timeout && Process.clock_gettime(Process::CLOCK_MONOTONIC) + open_timeout
      Addrinfo.foreach(host, port, nil, :STREAM, timeout: resolv_timeout || open_timeout) do |address|
        from = local&.find { |l| l.afamily == address.afamily }
        next if local && !from
        begin
          timeout = deadline ? [deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max : connect_timeout
          return from ? address.connect_from(from, timeout:) : address.connect(timeout:)
        rescue SystemCallError => failure
        end
      end
      raise failure || SocketError.new("no appropriate local address")
    end

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

    # Sockets that listen on a port of all addresses of a host; with a block they are yielded, and closed when it ends. Port 0: the system chooses one for all.
    def tcp_server_sockets(host = nil, port, &block) = __with_all(__servers(host, port, :STREAM), &block)

    # Waits for connections to any of the sockets, without end, and yields each connection's Socket and Addrinfo.
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

    # Listens on a port, and yields each connection's Socket and Addrinfo, without end.
    def tcp_server_loop(host = nil, port, &block) = tcp_server_sockets(host, port) { |sockets| accept_loop(sockets, &block) }

    # Sockets for datagrams to a port of all addresses of a host; with a block they are yielded, and closed when it ends.
    def udp_server_sockets(host = nil, port, &block) = __with_all(__servers(host, port, :DGRAM), &block)

    # Yields each message that is there already, and its UDPSource, by which it can be answered.
    def udp_server_recv(sockets)
      sockets.each do |socket|
        text, from, = socket.recvmsg_nonblock(exception: false)
        next if text == :wait_readable || text.nil?
        yield text, UDPSource.new(from, socket.local_address) { |reply| socket.send(reply, 0, from) }
      end
    end

    # Waits for messages to the sockets, without end, and yields each with its UDPSource.
    def udp_server_loop_on(sockets, &block)
      loop do
        ready, = IO.select(sockets)
        udp_server_recv(ready, &block)
      end
    end

    # Takes datagrams on a port, without end, and yields each with its UDPSource.
    def udp_server_loop(host = nil, port, &block) = udp_server_sockets(host, port) { |sockets| udp_server_loop_on(sockets, &block) }

    # Connects to the server at a path; with a block the socket is yielded, and closed when it ends.
    def unix(path)
      socket = Addrinfo.unix(path).connect
      return socket unless block_given?
      begin
        yield socket
      ensure
        socket.close
      end
    end

    # Listens at a path, in place of a socket that is there already; with a block the socket is yielded, then closed and its path removed.
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

    # Listens at a path, and yields each connection's Socket and Addrinfo, without end.
    def unix_server_loop(path, &block) = unix_server_socket(path) { |server| accept_loop(server, &block) }
  end
  self.tcp_fast_fallback = true

  private_constant :Sys
end
