# socket: BasicSocket and Socket. System calls are native (`__connect` and so on).
class BasicSocket
  @no_reverse = true

  class << self
    # Whether new sockets tell addresses as numbers, without looking up their names: true unless changed.
    def do_not_reverse_lookup = BasicSocket.instance_variable_get(:@no_reverse)

    # Sets whether new sockets tell addresses as numbers, without looking up their names.
    def do_not_reverse_lookup=(on)
      BasicSocket.instance_variable_set(:@no_reverse, on ? true : false)
    end

    # A socket, see `initialize` of the class; a block is not called, unlike that of `open`.
    def new(*args, **options, &block)
      warn("#{self}::new() does not take block; use #{self}::open() instead", uplevel: 0) if block
      super(*args, **options)
    end

    # A socket object for a file descriptor that is open.
    def for_fd(fd)
      socket = allocate
      socket.__send__(:__adopt, fd)
      socket.__send__(:__fresh)
      socket
    end
  end

  private def __fresh
    self.do_not_reverse_lookup = false unless BasicSocket.do_not_reverse_lookup
    self
  end

  # The packed address of this end.
  def getsockname = __name(false)
  # The packed address of the other end; Errno::ENOTCONN without one.
  def getpeername = __name(true)
  # The address of this end as Addrinfo.
  def local_address = Addrinfo.new(getsockname, *__kind)
  # The address of the other end as Addrinfo; Errno::ENOTCONN without one.
  def remote_address = Addrinfo.new(getpeername, *__kind)

  # Family, type and protocol of the addresses of this socket.
  private def __kind
    family = Sys.family_of(__name(false))
    type = __getsockopt(Socket::SOL_SOCKET, Socket::SO_TYPE).unpack1("i")
    [family, type, 0]
  end

  # The Addrinfo by which this machine can connect to the socket: 127.0.0.1 or ::1 in place of an address that stands for all. SocketError if the socket is not bound.
  def connect_address
    address = local_address
    case address.afamily
    when Socket::AF_UNIX
      raise SocketError, "unbound UNIX socket" if address.unix_path.empty?
    when Socket::AF_INET, Socket::AF_INET6
      raise SocketError, "unbound Internet socket" if address.ip_port == 0
    end
    case address.afamily
    when Socket::AF_INET
      if address.ip_address == "0.0.0.0"
        return Addrinfo.new(Socket.pack_sockaddr_in(address.ip_port, "127.0.0.1"), address.pfamily, address.socktype, address.protocol)
      end
    when Socket::AF_INET6
      if address.ipv6_unspecified?
        return Addrinfo.new(Socket.pack_sockaddr_in(address.ip_port, "::1"), address.pfamily, address.socktype, address.protocol)
      elsif address.ipv6_v4mapped? && address.ip_address == "::ffff:0.0.0.0"
        return Addrinfo.new(Socket.pack_sockaddr_in(address.ip_port, "::ffff:127.0.0.1"), address.pfamily, address.socktype, address.protocol)
      end
    end
    address
  end

  # The value of an option as Socket::Option; level and name may be Integers or names.
  #
  #     UDPSocket.open { |s| s.getsockopt(:SOCKET, :REUSEADDR).bool }   #=> false
  def getsockopt(level, optname)
    family = Sys.family_of(getsockname)
    level = Sys.level(family, level)
    optname = Sys.optname(family, level, optname)
    Socket::Option.new(family, level, optname, __getsockopt(level, optname))
  end

  # Sets an option: a Socket::Option, or level, name and value (true, false, an Integer, or a packed String). Answers 0.
  def setsockopt(*args)
    if args.size == 1 && Socket::Option === args[0]
      level, optname, value = args[0].level, args[0].optname, args[0].data
    elsif args.size == 3
      level, optname, value = args
    else
      raise ArgumentError, "wrong number of arguments (given #{args.size}, expected 3)"
    end
    family = Sys.family_of(getsockname)
    level = Sys.level(family, level)
    optname = Sys.optname(family, level, optname)
    data =
      case value
      when true then [1].pack("i")
      when false then [0].pack("i")
      when Integer then [value].pack("i")
      else Sys.text(value)
      end
    __setsockopt(level, optname, data)
  end

  # Ends one direction of the connection or both: `:RD`, `:WR` or `:RDWR`, which is the default. Answers 0.
  def shutdown(how = nil) = __shutdown(Sys.how(how))

  # Ends reading; closes the socket if writing has ended before.
  def close_read
    return if !__open_side(0) && __open_side(1)
    __shutdown(Socket::SHUT_RD) rescue Errno::ENOTCONN
    close if __close_side(0)
    nil
  end

  # Ends writing, which the other end sees as end of the stream; closes the socket if reading has ended before.
  def close_write
    return if !__open_side(1) && __open_side(0)
    flush
    __shutdown(Socket::SHUT_WR) rescue Errno::ENOTCONN
    close if __close_side(1)
    nil
  end

  # Sends a message with `flags` of Socket::MSG_ constants, to an address if the socket is not connected; answers the number of bytes.
  def send(message, flags, to = nil)
    __send(Sys.text(message), flags, to.nil? ? nil : Sys.sockaddr(to), true)
  end

  # A buffer keeps its encoding.
  private def __into(buffer, text)
    return text if buffer.nil?
    encoding = buffer.encoding
    buffer.replace(text).force_encoding(encoding)
  end

  # An empty text of a stream is its end.
  private def __end?(text, max) = text.empty? && max != 0 && __getsockopt(Socket::SOL_SOCKET, Socket::SO_TYPE).unpack1("i") != Socket::SOCK_DGRAM

  # Waits for a message of at most `max` bytes; nil at the end of a stream. A buffer is overwritten.
  def recv(max, flags = 0, buffer = nil)
    text = __recv(max, flags || 0, true, false)
    return nil if __end?(text, max)
    __into(buffer, text)
  end

  # A message of at most `max` bytes that is there already; else IO::WaitReadable is raised, or `:wait_readable` the answer with `exception: false`.
  def recv_nonblock(max, flags = 0, buffer = nil, exception: true)
    text = __recv(max, flags || 0, false, false)
    return Sys.later(text, "recvfrom(2)", exception) if Symbol === text
    return nil if __end?(text, max)
    __into(buffer, text)
  end

  # Of a datagram nothing is left over for the next call.
  def read_nonblock(max, buffer = nil, exception: true)
    return super if max == 0 || __buffered > 0
    text = __recv(max, 0, false, false)
    if Symbol === text
      return text unless exception
      raise IO::EAGAINWaitReadable, "read would block"
    end
    if __end?(text, max)
      buffer&.clear
      return nil unless exception
      raise EOFError, "end of file reached"
    end
    __into(buffer, text)
  end

  private def __controls(controls)
    controls.map do |c|
      if Socket::AncillaryData === c
        [c.level, c.type, c.data]
      else
        list = Array.try_convert(c)
        raise TypeError, "Socket::AncillaryData or Array expected" unless list && list.size == 3
        level = Sys.level(Sys.family_of(getsockname), list[0])
        [level, Sys.message_type(Sys.family_of(getsockname), level, list[1]), list[2].to_str]
      end
    end
  end

  private def __sendmsg_as(wait, exception, message, flags, to, controls)
    to = to.nil? ? nil : Sys.sockaddr(to)
    Sys.later(__sendmsg(Sys.text(message), flags, to, __controls(controls), wait), "sendmsg(2)", exception)
  end

  # Sends a message with control messages: AncillaryData or `[level, type, data]`. Answers the number of bytes.
  def sendmsg(message, flags = 0, to = nil, *controls) = __sendmsg_as(true, true, message, flags, to, controls)

  # The same as `sendmsg` if it can be sent at once; else IO::WaitWritable is raised, or `:wait_writable` the answer with `exception: false`.
  def sendmsg_nonblock(message, flags = 0, to = nil, *controls, exception: true)
    __sendmsg_as(false, exception, message, flags, to, controls)
  end

  private def __recvmsg_as(wait, exception, max, flags, max_control, scm_rights)
    got = __recvmsg(max, flags, max_control || 4096, wait)
    return Sys.later(got, "recvmsg(2)", exception) if Symbol === got
    text, from, said, controls = got
    own = Sys.family_of(getsockname)
    controls = controls.map do |level, type, data|
      control = Socket::AncillaryData.new(own, level, type, data)
      if level == Socket::SOL_SOCKET && type == Socket::SCM_RIGHTS
        fds = data.unpack("i*")
        if scm_rights
          control.__send__(:__ios=, fds.map { |fd| Sys.io(IO, fd, nil) })
        else
          fds.each { |fd| Sys.close(fd) }
        end
      end
      control
    end
    return nil if from.nil? && controls.empty? && __end?(text, max)
    from = from ? Addrinfo.new(from, Sys.family_of(from), *__kind[1..]) : Addrinfo.new("", Socket::PF_UNSPEC, *__kind[1..])
    [text, from, said, *controls]
  end

  # Waits for a message: `[text, Addrinfo of the sender, flags, AncillaryData, ...]`; files that came with it are closed unless `scm_rights: true`.
  def recvmsg(max = nil, flags = 0, max_control = nil, scm_rights: false)
    __recvmsg_as(true, true, max, flags, max_control, scm_rights)
  end

  # The same as `recvmsg` for a message that is there already; else IO::WaitReadable is raised, or `:wait_readable` the answer with `exception: false`.
  def recvmsg_nonblock(max = nil, flags = 0, max_control = nil, scm_rights: false, exception: true)
    __recvmsg_as(false, exception, max, flags, max_control, scm_rights)
  end
end

class Socket
  class << self
    # Two sockets that are connected with each other, of AF_UNIX unless told otherwise; with a block they are yielded, and closed when it ends.
    def pair(domain = nil, type = nil, protocol = 0)
      domain = domain.nil? ? AF_UNIX : Sys.family(domain)
      type = type.nil? ? SOCK_STREAM : Sys.type(type)
      pair = Sys.pair(self, domain, type, protocol).each { |s| s.__send__(:__fresh) }
      return pair unless block_given?
      begin
        yield pair
      ensure
        pair.each(&:close)
      end
    end
    alias socketpair pair

    # The name of this machine.
    def gethostname = Sys.hostname

    # The addresses of a host and a service: Arrays of family, port, host, address, number of the family, of the type and of the protocol. Socket::ResolutionError if there is none.
    def getaddrinfo(host, service, family = nil, type = nil, protocol = nil, flags = nil, reverse = nil)
      Sys.resolve(host, service, family, type, protocol, flags).map do |address, fam, kind, proto|
        # A list of its own address, as IPSocket#addr gives it.
        [*Sys.described(address, reverse), fam, kind, proto]
      end
    end

    # `[host, service]` of a packed address, or of an Array of family, port and host; `flags` of Socket::NI_ constants.
    def getnameinfo(address, flags = 0)
      list = Array.try_convert(address)
      return Sys.getnameinfo(Sys.sockaddr(address), flags) unless list
      unless (3..4) === list.size
        raise ArgumentError, "array size should be 3 or 4, #{list.size} given"
      end
      family, port, host, ip = list
      family = family.nil? ? AF_UNSPEC : Sys.family(family)
      type = flags & NI_DGRAM != 0 ? SOCK_DGRAM : SOCK_STREAM
      found = Sys.resolve(ip || host, port, family, type, 0, ip ? AI_NUMERICHOST : 0)
      Sys.getnameinfo(found.first[0], flags)
    end

    # `[name, [], family, packed address, ...]` of a host. Deprecated: Addrinfo.getaddrinfo.
    def gethostbyname(name)
      warn("Socket.gethostbyname is deprecated; use Addrinfo.getaddrinfo instead.", uplevel: 0, category: :deprecated)
      found = Sys.resolve(name, nil, nil, SOCK_STREAM, nil, AI_CANONNAME)
      family = found.first[1]
      addresses = found.select { |f| f[1] == family }.map { |f| Sys.bare(f[0]) }.uniq
      [found.first[4] || name.to_str, [], family, *addresses]
    end

    # `[name, [], family, packed address]` of a packed address. Deprecated: Addrinfo#getnameinfo.
    def gethostbyaddr(address, family = nil)
      warn("Socket.gethostbyaddr is deprecated; use Addrinfo#getnameinfo instead.", uplevel: 0, category: :deprecated)
      address = Sys.text(address)
      family = family.nil? ? (address.bytesize == 16 ? AF_INET6 : AF_INET) : Sys.family(family)
      packed =
        case address.bytesize
        when 4 then family == AF_INET && [AF_INET, 0].pack("Sn") + address.b + "\0" * 8
        when 16 then family == AF_INET6 && [AF_INET6, 0, 0].pack("SnN") + address.b + "\0" * 4
        end
      raise SocketError, "host not found" unless packed
      begin
        name, = Sys.getnameinfo(packed, NI_NAMEREQD)
      rescue ResolutionError
        raise SocketError, "host not found"
      end
      [name, [], family, address]
    end

    # The lines of /etc/services: [name, port, protocol, aliases].
    private def __services
      File.foreach("/etc/services").filter_map do |line|
        name, port, *others = line[/\A[^#]*/].split
        next unless port
        number, protocol = port.split("/")
        [name, number.to_i, protocol, others]
      end
    rescue SystemCallError
      []
    end

    # The port of a service by /etc/services; SocketError if it is not there.
    def getservbyname(name, protocol = "tcp")
      name, protocol = name.to_str, protocol.to_str
      found = __services.find { |n, _, p, others| p == protocol && (n == name || others.include?(name)) }
      found&.[](1) || raise(SocketError, "no such service #{name}/#{protocol}")
    end

    # The name of the service on a port by /etc/services; SocketError if it is not there.
    def getservbyport(port, protocol = "tcp")
      port, protocol = port.to_int, protocol.to_str
      found = __services.find { |_, n, p| n == port && p == protocol }
      found&.[](0) || raise(SocketError, "no such service for port #{port}/#{protocol}")
    end

    # The packed address of a port and a host; nil is this machine, "" every address.
    #
    #     Socket.unpack_sockaddr_in(Socket.pack_sockaddr_in(80, "127.0.0.1"))   #=> [80, "127.0.0.1"]
    def pack_sockaddr_in(port, host)
      type = SOCK_STREAM
      flags = host.nil? ? 0 : host == "" ? AI_PASSIVE : 0
      Sys.resolve(host, port.nil? ? 0 : port == "" ? 0 : port, nil, type, nil, flags).first[0]
    end
    alias sockaddr_in pack_sockaddr_in

    # `[port, address]` of a packed Internet address; ArgumentError for others.
    def unpack_sockaddr_in(address)
      address = Sys.sockaddr(address)
      raise ArgumentError, "not an AF_INET/AF_INET6 sockaddr" unless Sys.ip?(Sys.family_of(address))
      Sys.numeric(address).reverse
    end

    # The packed address of a path; ArgumentError if it is longer than 108 bytes.
    def pack_sockaddr_un(path)
      path = path.respond_to?(:to_path) ? path.to_path : path
      path = Sys.text(path)
      if path.bytesize > 108
        raise ArgumentError, "too long unix socket path (#{path.bytesize} bytes given but 108 bytes max)"
      end
      # An abstract name is as long as it is; for none the system chooses one.
      return [AF_UNIX].pack("S") + path.b if path.empty? || path.start_with?("\0")
      ([AF_UNIX].pack("S") + path.b).ljust(110, "\0")
    end
    alias sockaddr_un pack_sockaddr_un

    # The path of a packed UNIX address; ArgumentError for others.
    def unpack_sockaddr_un(address)
      address = Sys.sockaddr(address)
      raise ArgumentError, "not an AF_UNIX sockaddr" unless Sys.family_of(address) == AF_UNIX
      path = address.byteslice(2..).b
      path = path.start_with?("\0") ? path : path[/\A[^\0]*/n]
      path = +"" if path.count("\0") == path.bytesize
      path.force_encoding(Encoding.find("filesystem"))
    end

    # The addresses of this machine as Addrinfo, without ports.
    def ip_address_list
      getifaddrs.filter_map { |i| i.addr if i.addr&.ip? }.map { |a| Addrinfo.new(a.to_sockaddr, a.afamily) }
    end

    # The interfaces of this machine with each of their addresses, as Socket::Ifaddr.
    def getifaddrs
      Sys.interfaces.map do |name, index, flags, address, netmask, other|
        address, netmask, other = [address, netmask, other].map { |a| a && Addrinfo.new(a, Sys.family_of(a), 0, 0) }
        Ifaddr.__send__(:new, name, index, flags, address, netmask, flags & IFF_BROADCAST != 0 ? other : nil, flags & IFF_POINTOPOINT != 0 ? other : nil)
      end
    end
  end

  module Sys
    # The address alone, without family and port.
    def self.bare(sockaddr) = sockaddr.byteslice(*(family_of(sockaddr) == AF_INET ? [4, 4] : [8, 16]))

    # ["AF_INET", port, host, ip]; `reverse`: whether the host is a name: true, false, :hostname, :numeric, nil (as BasicSocket says, or as given in `default`).
    def self.described(sockaddr, reverse, default = !BasicSocket.do_not_reverse_lookup)
      by_name =
        case reverse
        when nil then default
        when true, :hostname then true
        when false, :numeric then false
        when Symbol then raise ArgumentError, "invalid reverse_lookup flag: #{reverse.inspect}"
        else raise TypeError, "wrong argument type #{reverse.class} (expected true, false, :hostname, or :numeric)"
        end
      ip, port = numeric(sockaddr)
      name = ip
      if by_name
        begin
          name, = getnameinfo(sockaddr, NI_NUMERICSERV)
        rescue SocketError
          name = ip
        end
      end
      [family_name(family_of(sockaddr)), port, name, ip]
    end
  end

  # A socket of a domain (:INET, :INET6, :UNIX), a type (:STREAM, :DGRAM) and a protocol; each may be an Integer.
  def initialize(domain, type = SOCK_STREAM, protocol = 0)
    __socket(Sys.family(domain), Sys.type(type), protocol)
    __fresh
  end

  # Gives the socket an address: a packed one or an Addrinfo. Answers 0.
  def bind(address)
    address = Sys.sockaddr(address)
    __bind(address, "bind(2) for #{Sys.shown(address)}")
  end

  # Listens for connections, of which so many may wait to be accepted. Answers 0.
  def listen(backlog) = __listen(backlog)

  # Connects to a packed address or an Addrinfo, and answers 0.
  def connect(address)
    address = Sys.sockaddr(address)
    __connect(address, true, nil, "connect(2) for #{Sys.shown(address)}")
  end

  # Begins to connect: answers 0 if that is done at once; else IO::WaitWritable is raised, or `:wait_writable` the answer with `exception: false`.
  def connect_nonblock(address, exception: true)
    address = Sys.sockaddr(address)
    case r = __connect(address, false, nil, "connect(2) for #{Sys.shown(address)}")
    when :wait_writable
      raise IO::EINPROGRESSWaitWritable, "connect(2) would block" if exception
      r
    else
      r
    end
  rescue Errno::EISCONN
    raise if exception
    0
  end

  private def __accepted(pair)
    socket, address = pair
    socket.__send__(:__fresh)
    [socket, Addrinfo.new(address, Sys.family_of(address), *__kind[1..])]
  end

  # Waits for a connection: `[socket, Addrinfo]`.
  def accept = __accepted(__accept(Socket, true))

  # `[socket, Addrinfo]` of a connection if one waits; else IO::WaitReadable is raised, or `:wait_readable` the answer with `exception: false`.
  def accept_nonblock(exception: true)
    got = __accept(Socket, false)
    return Sys.later(got, "accept(2)", exception) if Symbol === got
    __accepted(got)
  end

  # Waits for a connection: `[file descriptor, Addrinfo]`; the caller has to close the descriptor.
  def sysaccept
    socket, address = __accepted(__accept(Socket, true))
    [Sys.release(socket), address]
  end

  # Waits for a message: `[text, Addrinfo of the sender]`; nil at the end of a stream.
  def recvfrom(max, flags = 0)
    text, from = __recv(max, flags, true, true)
    return nil if from.nil? && __end?(text, max)
    [text, __from(from)]
  end

  # `[text, Addrinfo of the sender]` of a message that is there already; else IO::WaitReadable is raised, or `:wait_readable` the answer with `exception: false`.
  def recvfrom_nonblock(max, flags = 0, buffer = nil, exception: true)
    text, from = got = __recv(max, flags, false, true)
    return Sys.later(got, "recvfrom(2)", exception) if Symbol === got
    return nil if from.nil? && __end?(text, max)
    [__into(buffer, text), __from(from)]
  end

  private def __from(address)
    kind = __kind
    address ? Addrinfo.new(address, Sys.family_of(address), *kind[1..]) : Addrinfo.new("", kind[0], *kind[1..])
  end

  # `[user, group]` of the process at the other end of a UNIX socket, as numbers.
  def getpeereid = __getsockopt(SOL_SOCKET, SO_PEERCRED).unpack("iII")[1..]

  # Lets a socket of IPv6 take connections of IPv6 alone.
  def ipv6only!
    setsockopt(:IPV6, :V6ONLY, 1) if Sys.family_of(getsockname) == AF_INET6
  end
end
