# socket: Addrinfo, an address with what a socket for it needs.
class Socket
  module Sys
    # getaddrinfo(3) with arguments as Ruby's methods take them.
    def self.resolve(host, service, family = nil, type = nil, protocol = nil, flags = nil, timeout: nil)
      host = host_text(host)
      service =
        case service
        when nil then nil
        when Integer then service.to_s
        else text(service)
        end
      flags = flags ? flags.to_int : 0
      flags |= AI_NUMERICSERV if service&.match?(/\A\d+\z/)
      getaddrinfo(host, service, family ? family(family) : 0, type ? type(type) : 0, protocol || 0, flags, timeout)
    end

    def self.host_text(host)
      case host
      when nil then nil
      when Integer then [host].pack("N").unpack("C4").join(".")
      else
        case name = text(host)
        when "", "<any>" then "0.0.0.0"
        when "<broadcast>" then "255.255.255.255"
        else name
        end
      end
    end

    # Numeric [host, port] of an address of the Internet.
    def self.numeric(sockaddr)
      host, port = getnameinfo(sockaddr, NI_NUMERICHOST | NI_NUMERICSERV)
      [host, port.to_i]
    end

    # The Addrinfo itself, or one of a packed address.
    def self.addrinfo(value) = Addrinfo === value ? value : Addrinfo.new(value)

    # A packed address of a String or an Addrinfo.
    def self.sockaddr(value)
      Addrinfo === value ? value.to_sockaddr : text(value)
    end

    def self.family_of(sockaddr) = sockaddr.bytesize < 2 ? AF_UNSPEC : sockaddr.unpack1("S")

    # As people write it: 127.0.0.1:80, [::1]:80, /path.
    def self.shown(sockaddr) = Addrinfo.new(sockaddr).inspect_sockaddr
  end
end

class BasicSocket
  Sys = Socket::Sys
  private_constant :Sys
end

class Addrinfo
  Sys = Socket::Sys
  private_constant :Sys

  # `pfamily`: The protocol family, an Integer: Socket::PF_INET.
  # `socktype`: The type of socket, an Integer; 0: any.
  # `protocol`: The protocol, an Integer; 0: any.
  # `canonname`: The host's canonical name, if it was asked for with Socket::AI_CANONNAME.
  attr_reader :pfamily, :socktype, :protocol, :canonname

  # The addresses of a host and a service, for each type of socket that fits; `timeout` in seconds. Socket::ResolutionError if there is none.
  #
  #     Addrinfo.getaddrinfo("127.0.0.1", 80, nil, :STREAM).first.inspect   #=> "#<Addrinfo: 127.0.0.1:80 TCP>"
  def self.getaddrinfo(host, service, family = nil, socktype = nil, protocol = nil, flags = nil, timeout: nil)
    found = Sys.resolve(host, service, family, socktype, protocol, flags, timeout:)
    found.map { |address, fam, type, proto, canonical| new(address, fam, type, proto).__send__(:__named, canonical, host, service) }
  end

  private_class_method def self.__first(host, port, type, protocol)
    address, family, = Sys.resolve(host, port, Socket::PF_UNSPEC, type, protocol, 0).first
    new(address, family, type, protocol).__send__(:__named, nil, host, port)
  end

  # Yields each address that `getaddrinfo` finds; without a block an Enumerator.
  def self.foreach(host, service, family = nil, socktype = nil, protocol = nil, flags = nil, timeout: nil, &block)
    getaddrinfo(host, service, family, socktype, protocol, flags, timeout:).each(&block)
  end

  # The first address of a host, without a port.
  def self.ip(host)
    found = getaddrinfo(host, nil, Socket::PF_UNSPEC, 0, 0, 0).first
    new(found.to_sockaddr, found.pfamily, 0, 0).__send__(:__named, nil, host, nil)
  end

  # The first TCP address of a host and a port (a number or a service's name).
  #
  #     Addrinfo.tcp("127.0.0.1", 80).ip_port   #=> 80
  def self.tcp(host, port) = __first(host, port, Socket::SOCK_STREAM, Socket::IPPROTO_TCP)
  # The first UDP address of a host and a port (a number or a service's name).
  def self.udp(host, port) = __first(host, port, Socket::SOCK_DGRAM, Socket::IPPROTO_UDP)

  # The address of a path, for stream sockets unless told otherwise.
  def self.unix(path, socktype = Socket::SOCK_STREAM)
    new(Socket.pack_sockaddr_un(path), Socket::PF_UNIX, Sys.type(socktype), 0)
  end

  # An address from a packed one, or from an Array as `IPSocket#addr` gives it: `["AF_INET", port, host, address]`.
  def initialize(sockaddr, family = nil, socktype = nil, protocol = nil)
    family = Sys.family(family) unless family.nil?
    socktype = socktype.nil? ? 0 : Sys.type(socktype)
    protocol = protocol.nil? ? 0 : protocol.to_int
    if (list = Array.try_convert(sockaddr))
      __from_array(list, family, socktype, protocol)
    else
      @sockaddr = Sys.text(sockaddr).b.freeze
      @pfamily = family || Socket::PF_UNSPEC
      @socktype = socktype
      @protocol = protocol
    end
  end

  private def __from_array(list, family, socktype, protocol)
    kind = Sys.family(list[0])
    case kind
    when Socket::AF_INET, Socket::AF_INET6
      _, port, host, ip = list
      port = Integer(port) unless port.nil?
      ip = host if ip.nil?
      # getaddrinfo(3) knows nothing of this one.
      type = socktype == 0 || socktype == Socket::SOCK_SEQPACKET && protocol == 0 ? Socket::SOCK_DGRAM : socktype
      found = Sys.resolve(ip, port, family || kind, type, protocol, Socket::AI_NUMERICHOST).first
      @sockaddr = found[0].freeze
      raise SocketError, "unexpected address family" unless afamily == kind
      @pfamily = found[1]
      @socktype = socktype
      @protocol = protocol
      __named(nil, host, port)
    when Socket::AF_UNIX
      @sockaddr = Socket.pack_sockaddr_un(list[1]).freeze
      @pfamily = Socket::PF_UNIX
      @socktype = socktype == 0 ? Socket::SOCK_STREAM : socktype
      @protocol = protocol
    else
      raise ArgumentError, "unexpected address family"
    end
  end

  # Keeps what it was asked for as, unless the address says the same.
  private def __named(canonical, host, service)
    @canonname = canonical
    return self unless ip?
    ip, port = Sys.numeric(@sockaddr)
    host = nil if !host.respond_to?(:to_str) || host == ip || host == "" || Sys.pton(host.to_str)
    service = nil if Integer === service || service == port.to_s
    @inspectname = service ? "#{host}:#{service}" : host&.to_str
    self
  end

  # The address family, an Integer.
  def afamily = Sys.family_of(@sockaddr)
  # The address as the system has it, a packed String.
  def to_sockaddr = @sockaddr.dup
  alias to_s to_sockaddr

  # Whether it is an address of IPv4 or IPv6.
  def ip? = Sys.ip?(afamily)
  # Whether it is an address of IPv4.
  def ipv4? = afamily == Socket::AF_INET
  # Whether it is an address of IPv6.
  def ipv6? = afamily == Socket::AF_INET6
  # Whether it is the address of a UNIX socket.
  def unix? = afamily == Socket::AF_UNIX

  private def __ip
    raise SocketError, "need IPv4 or IPv6 address" unless ip?
  end

  # The address as text, without the port; SocketError for UNIX sockets.
  def ip_address
    __ip
    Sys.numeric(@sockaddr)[0]
  end

  # The port; SocketError for UNIX sockets.
  def ip_port
    __ip
    @sockaddr.unpack1("@2n")
  end

  # `[address, port]`; SocketError for UNIX sockets.
  def ip_unpack = [ip_address, ip_port]

  # The path of a UNIX socket; SocketError for other addresses.
  def unix_path
    raise SocketError, "need AF_UNIX address" unless unix?
    Socket.unpack_sockaddr_un(@sockaddr)
  end

  # Four bytes as a number.
  private def __v4 = ipv4? ? @sockaddr.unpack1("@4N") : nil
  private def __v6 = ipv6? ? @sockaddr.byteslice(8, 16) : nil

  # Whether it lies in 10/8, 172.16/12 or 192.168/16.
  def ipv4_private?
    n = __v4 or return false
    n >> 24 == 10 || n >> 20 == 0xac1 || n >> 16 == 0xc0a8
  end

  # Whether it lies in 127/8.
  def ipv4_loopback? = (n = __v4) ? n >> 24 == 127 : false
  # Whether it lies in 224/4.
  def ipv4_multicast? = (n = __v4) ? n >> 28 == 14 : false
  # Whether it is `::`.
  def ipv6_unspecified? = __v6 == "\0".b * 16
  # Whether it is `::1`.
  def ipv6_loopback? = __v6 == "\0".b * 15 + "\1".b
  # Whether it lies in ff00::/8.
  def ipv6_multicast? = __v6 ? __v6.getbyte(0) == 0xff : false
  # Whether it lies in fe80::/10.
  def ipv6_linklocal? = (a = __v6) ? a.unpack1("n") & 0xffc0 == 0xfe80 : false
  # Whether it lies in fec0::/10.
  def ipv6_sitelocal? = (a = __v6) ? a.unpack1("n") & 0xffc0 == 0xfec0 : false
  # Whether it lies in fc00::/7.
  def ipv6_unique_local? = (a = __v6) ? a.getbyte(0) & 0xfe == 0xfc : false
  # Whether it is an IPv4 address in ::ffff:0:0/96.
  def ipv6_v4mapped? = (a = __v6) ? a.byteslice(0, 12) == "\0".b * 10 + "\xff\xff".b : false
  # Whether it is an IPv4 address in ::/96, which nobody gives any more.
  def ipv6_v4compat? = (a = __v6) ? a.byteslice(0, 12) == "\0".b * 12 && a.unpack1("@12N") > 1 : false

  # :method: ipv6_mc_nodelocal?: Whether it is a multicast address that stays on this machine.
  # :method: ipv6_mc_linklocal?: Whether it is a multicast address that stays on the link.
  # :method: ipv6_mc_sitelocal?: Whether it is a multicast address that stays in the site.
  # :method: ipv6_mc_orglocal?: Whether it is a multicast address that stays in the organization.
  # :method: ipv6_mc_global?: Whether it is a multicast address for everywhere.
  {nodelocal: 1, linklocal: 2, sitelocal: 5, orglocal: 8, global: 14}.each do |name, scope|
    define_method(:"ipv6_mc_#{name}?") { ipv6_multicast? && __v6.getbyte(1) & 15 == scope }
  end

  # The IPv4 address inside of an IPv6 one, as Addrinfo; nil if there is none.
  def ipv6_to_ipv4
    return unless ipv6_v4mapped? || ipv6_v4compat?
    Addrinfo.new([Socket::AF_INET, 0].pack("Sn") + __v6.byteslice(12, 4) + "\0" * 8, Socket::PF_INET, @socktype, 0)
  end

  # `[host, service]`, looked up unless `flags` (Socket::NI_ constants) say otherwise.
  def getnameinfo(flags = 0)
    flags |= Socket::NI_DGRAM if @socktype == Socket::SOCK_DGRAM
    Sys.getnameinfo(@sockaddr, flags)
  end

  # The address with its port as people write it: "127.0.0.1:80", "[::1]:80", "/path".
  def inspect_sockaddr
    case afamily
    when Socket::AF_INET
      return "too-short-AF_INET-sockaddr #{@sockaddr.bytesize} bytes" if @sockaddr.bytesize < 8
      port, *ip = @sockaddr.unpack("@2nC4")
      ip = ip.join(".")
      port == 0 ? ip : "#{ip}:#{port}"
    when Socket::AF_INET6
      return "too-short-AF_INET6-sockaddr #{@sockaddr.bytesize} bytes" if @sockaddr.bytesize < 28
      host, port = Sys.numeric(@sockaddr)
      port == 0 ? host : "[#{host}]:#{port}"
    when Socket::AF_UNIX
      path = Socket.unpack_sockaddr_un(@sockaddr)
      path.start_with?("/") && path.match?(/\A[\x21-\x7e]*\z/n) ? path : "UNIX #{path.match?(/\A[\x21-\x7e]*\z/n) ? path : path.dump[1..-2]}"
    when Socket::AF_PACKET
      protocol, index, hatype, pkttype, halen = @sockaddr.unpack("@2nisCC")
      name = Sys.interface(index) || "ifindex:#{index}"
      hardware = @sockaddr.byteslice(12, halen).unpack("C*").map { |b| "%02x" % b }.join(":")
      type = {0 => "HOST", 1 => "BROADCAST", 2 => "MULTICAST", 3 => "OTHERHOST", 4 => "OUTGOING"}[pkttype] || "pkttype=#{pkttype}"
      "PACKET[protocol=#{protocol} #{name} hatype=#{hatype} #{type} hwaddr=#{hardware}]"
    else
      return "empty-sockaddr" if @sockaddr.empty?
      return "too-short-sockaddr" if @sockaddr.bytesize < 2
      name = Sys.family_name(afamily)&.delete_prefix("AF_")
      "#{name || "unknown address family #{afamily}"}[#{@sockaddr.byteslice(2..).unpack1("H*")}]"
    end
  end

  # Address, family, type and protocol, and the name that it was asked for by.
  def inspect
    type =
      if @pfamily == afamily && ip? && @socktype == Socket::SOCK_STREAM && [0, Socket::IPPROTO_TCP].include?(@protocol)
        " TCP"
      elsif @pfamily == afamily && ip? && @socktype == Socket::SOCK_DGRAM && [0, Socket::IPPROTO_UDP].include?(@protocol)
        " UDP"
      elsif @socktype != 0
        " #{Sys.name_of("SOCK_", @socktype) || "unknown socktype (#{@socktype})"}"
      else
        ""
      end
    if type.start_with?(" SOCK", " unknown") && @protocol != 0 || @socktype == 0 && @protocol != 0
      name = ip? && Sys.name_of("IPPROTO_", @protocol)
      type += name ? " #{name.delete_prefix("IPPROTO_")}" : " UNKNOWN_PROTOCOL(#{@protocol})"
    end
    family = @pfamily != afamily && @pfamily != 0 ? " #{Sys.name_of("PF_", @pfamily) || "PF_#{@pfamily}"}" : ""
    name = @canonname || @inspectname
    "#<Addrinfo: #{inspect_sockaddr}#{family}#{type}#{" (#{name})" if name}>"
  end

  # What Marshal writes.
  def marshal_dump
    address =
      if unix?
        unix_path
      elsif ip?
        [ip_address, ip_port.to_s]
      else
        @sockaddr
      end
    family = Sys.name_of("PF_", @pfamily) || @pfamily
    family = "PF_UNIX" if @pfamily == Socket::PF_UNIX
    type = @socktype == 0 ? 0 : Sys.name_of("SOCK_", @socktype) || @socktype
    protocol = ip? ? Sys.name_of("IPPROTO_", @protocol) || @protocol : @protocol
    protocol = "IPPROTO_IP" if ip? && @protocol == 0
    [Sys.family_name(afamily), address, family, type, protocol, @canonname, @inspectname]
  end

  # Takes what Marshal read.
  def marshal_load(list)
    afamily, address, family, type, protocol, @canonname, @inspectname = list
    @pfamily = Sys.number(family, %w[PF_], "protocol family")
    @socktype = type == 0 ? 0 : Sys.type(type)
    @protocol = Sys.number(protocol, %w[IPPROTO_], "protocol")
    @sockaddr =
      case afamily
      when "AF_UNIX" then Socket.pack_sockaddr_un(address)
      when "AF_INET", "AF_INET6" then Sys.resolve(address[0], address[1], afamily, nil, nil, Socket::AI_NUMERICHOST).first[0]
      else address
      end.freeze
  end

  # An address of the same family, type and protocol: of a host and a port, of a path, or an Addrinfo that is such a one; ArgumentError if it does not fit.
  def family_addrinfo(*args)
    if args.empty?
      raise ArgumentError, "no address specified"
    elsif Addrinfo === args.first
      raise ArgumentError, "too many arguments" if args.length > 1
      other = args.first
      raise ArgumentError, "Addrinfo type mismatch" if other.pfamily != pfamily || other.socktype != socktype
      other
    elsif ip?
      raise ArgumentError, "IP address needs host and port but #{args.length} arguments given" if args.length != 2
      Addrinfo.getaddrinfo(args[0], args[1], pfamily, socktype, protocol).first
    elsif unix?
      raise ArgumentError, "UNIX socket needs single path argument but #{args.length} given" if args.length > 1
      Addrinfo.unix(args.first, socktype)
    else
      raise ArgumentError, "unexpected family"
    end
  end

  protected def connect_internal(local, timeout: nil)
    socket = Socket.new(pfamily, socktype, protocol)
    begin
      socket.ipv6only! if ipv6?
      socket.bind(local) if local
      if timeout
        case socket.__send__(:__connect, to_sockaddr, true, timeout, "connect(2) for #{inspect_sockaddr}")
        when :timeout then raise Errno::ETIMEDOUT, "user specified timeout for #{ip? ? "#{ip_address}:#{ip_port}" : inspect_sockaddr}"
        end
      else
        socket.connect(self)
      end
    rescue Exception
      socket.close
      raise
    end
    return socket unless block_given?
    begin
      yield socket
    ensure
      socket.close
    end
  end

  # Connects to the address: a Socket, which a block gets and which is closed when it ends; `timeout` in seconds.
  def connect(timeout: nil, &block) = connect_internal(nil, timeout:, &block)
  # Connects to the address from an address of this machine: `(host, port)`, `(path)` or an Addrinfo.
  def connect_from(*args, timeout: nil, &block) = connect_internal(family_addrinfo(*args), timeout:, &block)

  # Connects from the address to another one: `(host, port)`, `(path)` or an Addrinfo.
  def connect_to(*args, timeout: nil, &block) = family_addrinfo(*args).connect_internal(self, timeout:, &block)

  # A Socket that is bound to the address; a block gets it, and it is closed when the block ends.
  def bind
    socket = Socket.new(pfamily, socktype, protocol)
    begin
      socket.ipv6only! if ipv6?
      socket.setsockopt(:SOCKET, :REUSEADDR, 1)
      socket.bind(self)
    rescue Exception
      socket.close
      raise
    end
    return socket unless block_given?
    begin
      yield socket
    ensure
      socket.close
    end
  end

  # A Socket that listens on the address; a block gets it, and it is closed when the block ends.
  def listen(backlog = Socket::SOMAXCONN)
    socket = Socket.new(pfamily, socktype, protocol)
    begin
      socket.ipv6only! if ipv6?
      socket.setsockopt(:SOCKET, :REUSEADDR, 1) unless unix?
      socket.bind(self)
      socket.listen(backlog)
    rescue Exception
      socket.close
      raise
    end
    return socket unless block_given?
    begin
      yield socket
    ensure
      socket.close
    end
  end
end
