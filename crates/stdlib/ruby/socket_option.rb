# socket: names of constants, socket options, ancillary data.
class Socket
  # What names mean in arguments: :INET, "SOCK_STREAM", 6.
  module Sys
    # Prefixes of option names and of control messages, by level.
    OPTIONS = {
      SOL_SOCKET => ["SO_", "socket level option name"], IPPROTO_IP => ["IP_", "IP level option name"],
      IPPROTO_IPV6 => ["IPV6_", "IPv6 level option name"], IPPROTO_TCP => ["TCP_", "TCP level option name"],
      IPPROTO_UDP => ["UDP_", "UDP level option name"]
    }.freeze
    MESSAGES = {
      SOL_SOCKET => ["SCM_", "UNIX control message"], IPPROTO_IP => ["IP_", "IP control message"],
      IPPROTO_IPV6 => ["IPV6_", "IPv6 control message"], IPPROTO_TCP => ["TCP_", "TCP control message"],
      IPPROTO_UDP => ["UDP_", "UDP control message"]
    }.freeze
    LEVEL_NAMES = {SOL_SOCKET => "SOCKET", IPPROTO_IP => "IP", IPPROTO_IPV6 => "IPV6", IPPROTO_TCP => "TCP", IPPROTO_UDP => "UDP"}.freeze

    def self.class_name(value) = value.nil? ? "nil" : value == true || value == false ? value.to_s : value.class.to_s

    def self.integer(value)
      return value if Integer === value
      return value.to_int if value.respond_to?(:to_int)
      raise TypeError, "no implicit conversion of #{class_name(value)} into Integer"
    end

    def self.text(value)
      return value if String === value
      return value.to_str if value.respond_to?(:to_str)
      raise TypeError, "no implicit conversion of #{class_name(value)} into String"
    end

    # Where a socket is in the file system: what the system reads of it ends at the first NUL. Abstract names are made of any bytes.
    def self.path(value)
      path = text(value.respond_to?(:to_path) ? value.to_path : value)
      raise ArgumentError, "path name contains null byte" if path.b.match?(/\A[^\0].*\0/mn)
      path
    end

    def self.number(value, prefixes, what)
      case value
      when Integer then return value
      when Symbol then name = value.name
      else
        return value.to_int if !value.respond_to?(:to_str) && value.respond_to?(:to_int)
        name = String.try_convert(value) or integer(value)
      end
      prefixes.each do |prefix|
        [name.start_with?(prefix) ? name : nil, prefix + name].compact.each do |full|
          return Constants.const_get(full, false) if full.match?(/\A[A-Z]\w*\z/) && Constants.const_defined?(full, false)
        end
      end
      raise SocketError, "unknown #{what}: #{name}"
    end

    def self.family(value) = number(value, %w[AF_ PF_], "socket domain")
    def self.type(value) = number(value, %w[SOCK_], "socket type")
    def self.ip?(family) = family == AF_INET || family == AF_INET6

    def self.level(family, value)
      return number(value, %w[SOL_ IPPROTO_], "protocol level") if ip?(family)
      n = number(value, %w[SOL_], "protocol level")
      raise SocketError, "unknown protocol level: #{value}" unless Integer === value || n == SOL_SOCKET
      n
    end

    def self.optname(family, level, value)
      prefix, what = OPTIONS[level] if level == SOL_SOCKET || ip?(family)
      prefix ? number(value, [prefix], what) : integer(value)
    end

    def self.message_type(family, level, value)
      prefix, what = MESSAGES[level] if level == SOL_SOCKET || ip?(family)
      prefix ? number(value, [prefix], what) : integer(value)
    end

    def self.how(value)
      return SHUT_RDWR if value.nil?
      n = number(value, %w[SHUT_], "shutdown argument")
      return n if (SHUT_RD..SHUT_RDWR) === n
      raise ArgumentError, "'how' should be either :SHUT_RD, :SHUT_WR, :SHUT_RDWR"
    end

    # Arguments of options, which have numbers of their own.
    VALUES = /\A(?:IP_(?:PMTUDISC|DEFAULT|MAX)|IPV6_RTHDR_TYPE)_|\APF_(?:LOCAL|ROUTE)\z/
    private_constant :VALUES

    # Name of a constant of the prefix by its number; nil when there is none.
    def self.name_of(prefix, number)
      Constants.constants.find { |c| c.name.start_with?(prefix) && Constants.const_get(c) == number && !VALUES.match?(c.name) }&.name
    end

    FAMILY_NAMES = {AF_UNSPEC => "AF_UNSPEC", AF_UNIX => "AF_UNIX", AF_INET => "AF_INET", AF_INET6 => "AF_INET6", AF_PACKET => "AF_PACKET"}.freeze
    def self.family_name(n) = FAMILY_NAMES[n] || name_of("AF_", n)

    def self.later(result, what, exception)
      return result unless Symbol === result
      return result unless exception
      raise result == :wait_readable ? IO::EAGAINWaitReadable : IO::EAGAINWaitWritable, "#{what} would block"
    end
  end
  # A socket option: family, level, name, packed data.
  class Option
    # `family`: The address family, an Integer.
    # `level`: The level of the protocol, an Integer: Socket::SOL_SOCKET, Socket::IPPROTO_TCP.
    # `optname`: The number of the option.
    # `data`: The value as the system has it, a packed String.
    attr_reader :family, :level, :optname, :data
    alias to_s data

    # An option whose value is a C `int`.
    #
    #     Socket::Option.int(:INET, :SOCKET, :KEEPALIVE, 1).inspect   #=> "#<Socket::Option: INET SOCKET KEEPALIVE 1>"
    def self.int(family, level, name, value) = new(family, level, name, [value].pack("i"))
    # An option whose value is one byte.
    def self.byte(family, level, name, value) = new(family, level, name, [value].pack("C"))
    # An option that is on or off.
    def self.bool(family, level, name, value) = new(family, level, name, [value ? 1 : 0].pack("i"))
    # SO_LINGER: whether `close` waits for what was not sent yet, and how many seconds.
    def self.linger(on, seconds) = new(:UNSPEC, :SOCKET, :LINGER, [on.is_a?(Integer) ? on : on ? 1 : 0, seconds].pack("ii"))
    # IP_MULTICAST_TTL: how many routers a multicast packet may pass.
    def self.ipv4_multicast_ttl(value) = new(:INET, :IP, :MULTICAST_TTL, [value].pack("i"))
    # IP_MULTICAST_LOOP: whether own multicast packets come back, 1 or 0.
    def self.ipv4_multicast_loop(value) = new(:INET, :IP, :MULTICAST_LOOP, [value].pack("i"))

    # An option with packed data. Family, level and name may be Integers, or names with or without their prefix; SocketError for unknown names.
    def initialize(family, level, optname, data)
      @family = Sys.family(family)
      @level = Sys.level(@family, level)
      @optname = Sys.optname(@family, @level, optname)
      @data = Sys.text(data)
    end

    private def __sized(*sizes)
      return @data if sizes.include?(@data.bytesize)
      raise TypeError, "size differ.  expected as sizeof(#{sizes.first == 1 ? "char" : "int"})=#{sizes.first} but #{@data.bytesize}"
    end

    # The value as Integer; TypeError if it is not of 4 bytes.
    def int = __sized(4).unpack1("i")
    # The value as Integer; TypeError if it is not of 1 byte.
    def byte = __sized(1).unpack1("C")
    # Whether the value is not 0; TypeError if it is not of 1 or 4 bytes.
    def bool = (@data.bytesize == 1 ? byte : int) != 0
    # The parts of the value by a template of String#unpack.
    def unpack(template) = @data.unpack(template)

    # `[on, seconds]` of SO_LINGER; TypeError for other options.
    def linger
      raise TypeError, "linger socket option expected" unless @level == SOL_SOCKET && @optname == SO_LINGER
      raise TypeError, "size differ.  expected as sizeof(struct linger)=8 but #{@data.bytesize}" unless @data.bytesize == 8
      on, seconds = @data.unpack("ii")
      [on != 0, seconds]
    end

    # The value of IP_MULTICAST_TTL; TypeError for other options.
    def ipv4_multicast_ttl
      raise TypeError, "ipv4_multicast_ttl socket option expected" unless @level == IPPROTO_IP && @optname == IP_MULTICAST_TTL && @family == AF_INET
      int
    end

    # The value of IP_MULTICAST_LOOP; TypeError for other options.
    def ipv4_multicast_loop
      raise TypeError, "ipv4_multicast_loop socket option expected" unless @level == IPPROTO_IP && @optname == IP_MULTICAST_LOOP && @family == AF_INET
      int
    end

    # The names of family, level and option, and the value.
    def inspect
      family = Sys.family_name(@family)&.delete_prefix("AF_") || "family:#{@family}"
      prefix, = Sys::OPTIONS[@level] if @level == SOL_SOCKET || Sys.ip?(@family)
      level = prefix ? Sys::LEVEL_NAMES[@level] : "level:#{@level}"
      name = prefix && Sys.name_of(prefix, @optname)
      name = name ? name.delete_prefix(prefix) : "optname:#{@optname}"
      "#<Socket::Option: #{family} #{level} #{name} #{__shown}>"
    end

    private def __shown
      size = @data.bytesize
      if @level == SOL_SOCKET
        case @optname
        when SO_LINGER
          return "#{linger[0] ? "on" : "off"} #{linger[1]}sec" if size == 8
        when SO_TYPE
          return Sys.name_of("SOCK_", int) || int.to_s if size == 4
        when SO_ERROR
          return int == 0 ? "Success (0)" : "#{SystemCallError.new(int).message} (#{int})" if size == 4
        when SO_RCVTIMEO, SO_SNDTIMEO
          return format("%d.%06d", *@data.unpack("qq")) if size == 16
        when SO_PEERCRED
          return format("pid=%u euid=%u egid=%u (ucred)", *@data.unpack("III")) if size == 12
        end
      end
      size == 4 && !(@level == IPPROTO_TCP && @optname == TCP_CONGESTION) ? int.to_s : @data.dump
    end
  end

  # Data beside the data of a message (sendmsg(2), recvmsg(2)).
  class AncillaryData
    # `family`: The address family, an Integer.
    # `level`: The level of the protocol, an Integer.
    # `type`: The number of the message's type.
    # `data`: The message as the system has it, a packed String.
    attr_reader :family, :level, :type, :data
    # IO objects that came with it; nil unless `scm_rights: true`.
    attr_accessor :__ios
    private :__ios, :__ios=

    # A message whose data is a C `int`.
    def self.int(family, level, type, value) = new(family, level, type, [value].pack("i"))

    # SCM_RIGHTS: hands open files over to the receiver through a UNIX socket; TypeError for what is no IO.
    def self.unix_rights(*ios)
      ios.each { |io| raise TypeError, "IO expected" unless IO === io }
      data = new(:UNIX, :SOCKET, :RIGHTS, ios.map(&:fileno).pack("i*"))
      data.__send__(:__ios=, ios)
      data
    end

    # IP_PKTINFO: from which address and through which interface (by its number) a packet goes.
    def self.ip_pktinfo(address, index, destination = address)
      to, from = [address, destination].map { |a| Sys.addrinfo(a).to_sockaddr }
      raise ArgumentError, "addr family must be AF_INET" unless [to, from].all? { |a| a.unpack1("S") == AF_INET }
      # Order of struct in_pktinfo: index, local address, destination in the header.
      data = [index].pack("i") + to.byteslice(4, 4) + from.byteslice(4, 4)
      new(:INET, :IP, :PKTINFO, data)
    end

    # IPV6_PKTINFO: from which address and through which interface (by its number) a packet goes.
    def self.ipv6_pktinfo(address, index)
      at = Sys.addrinfo(address).to_sockaddr
      raise ArgumentError, "addr family must be AF_INET6" unless at.unpack1("S") == AF_INET6
      new(:INET6, :IPV6, :PKTINFO, at.byteslice(8, 16) + [index].pack("I"))
    end

    # A message with packed data. Family, level and type may be Integers, or names with or without their prefix; SocketError for unknown names.
    def initialize(family, level, type, data)
      @family = Sys.family(family)
      @level = Sys.level(@family, level)
      @type = Sys.message_type(@family, @level, type)
      @data = Sys.text(data)
    end

    # The data as Integer; TypeError if it is not of 4 bytes.
    def int
      raise TypeError, "size differ.  expected as sizeof(int)=4 but #{@data.bytesize}" unless @data.bytesize == 4
      @data.unpack1("i")
    end

    # Whether it is a message of this level and type, by number or name.
    def cmsg_is?(level, type)
      level = Sys.level(@family, level)
      type = Sys.message_type(@family, level, type)
      @level == level && @type == type
    end

    # The IO objects that came with it, if `recvmsg` was told `scm_rights: true`, else nil; TypeError for other messages.
    def unix_rights
      raise TypeError, "SCM_RIGHTS ancillary data expected" unless @level == SOL_SOCKET && @type == SCM_RIGHTS
      __ios
    end

    # The Time at which a packet came, of SCM_TIMESTAMP and SCM_TIMESTAMPNS; TypeError for other messages.
    def timestamp
      if @level == SOL_SOCKET && @type == SCM_TIMESTAMP && @data.bytesize == 16
        seconds, micros = @data.unpack("qq")
        Time.at(seconds, micros)
      elsif @level == SOL_SOCKET && @type == SCM_TIMESTAMPNS && @data.bytesize == 16
        seconds, nanos = @data.unpack("qq")
        Time.at(seconds, nanos, :nsec)
      else
        raise TypeError, "timestamp ancillary data expected"
      end
    end

    # `[address, number of the interface, destination]` of IP_PKTINFO; TypeError for other messages.
    def ip_pktinfo
      raise TypeError, "IP_PKTINFO ancillary data expected" unless @family == AF_INET && @level == IPPROTO_IP && @type == IP_PKTINFO && @data.bytesize == 12
      address = ->(at) { Addrinfo.new([AF_INET, 0].pack("Sn") + @data.byteslice(at, 4) + "\0" * 8, PF_INET, 0, 0) }
      [address[4], @data.unpack1("i"), address[8]]
    end

    private def __ipv6_pktinfo
      return @data if @family == AF_INET6 && @level == IPPROTO_IPV6 && @type == IPV6_PKTINFO && @data.bytesize == 20
      raise TypeError, "IPV6_PKTINFO ancillary data expected"
    end

    # The address of IPV6_PKTINFO as Addrinfo; TypeError for other messages.
    def ipv6_pktinfo_addr = Addrinfo.new([AF_INET6, 0, 0].pack("SnN") + __ipv6_pktinfo.byteslice(0, 16) + "\0" * 4, PF_INET6, 0, 0)
    # The number of the interface of IPV6_PKTINFO; TypeError for other messages.
    def ipv6_pktinfo_ifindex = __ipv6_pktinfo.byteslice(16, 4).unpack1("I")
    # `[address, number of the interface]` of IPV6_PKTINFO; TypeError for other messages.
    def ipv6_pktinfo = [ipv6_pktinfo_addr, ipv6_pktinfo_ifindex]

    # The names of family, level and type, and the data.
    def inspect
      family = Sys.family_name(@family)&.delete_prefix("AF_") || "family:#{@family}"
      prefix, = Sys::MESSAGES[@level] if @level == SOL_SOCKET || Sys.ip?(@family)
      level = prefix ? Sys::LEVEL_NAMES[@level] : "cmsg_level:#{@level}"
      name = prefix && Sys.name_of(prefix, @type)
      name = name ? name.delete_prefix(prefix) : "cmsg_type:#{@type}"
      shown = (__shown if prefix) || @data.dump
      "#<#{self.class}: #{family} #{level} #{name} #{shown}>"
    end

    # The data in words, if it is of the size that its type has.
    private def __shown
      size = @data.bytesize
      case @level
      when SOL_SOCKET
        case @type
        when SCM_RIGHTS
          return @data.unpack("i*").join(" ") if size > 0 && size % 4 == 0
        when SCM_CREDENTIALS
          return format("pid=%u uid=%u gid=%u (ucred)", *@data.unpack("III")) if size == 12
        when SCM_TIMESTAMP
          return timestamp.strftime("%F %T.%6N") if size == 16
        when SCM_TIMESTAMPNS
          return timestamp.strftime("%F %T.%9N") if size == 16
        end
      when IPPROTO_IP
        return unless @type == IP_PKTINFO && size == 12
        address, index, to = ip_pktinfo
        "#{address.ip_address} #{__interface(index)} spec_dst:#{to.ip_address}"
      when IPPROTO_IPV6
        return unless @type == IPV6_PKTINFO && size == 20
        address, index = ipv6_pktinfo
        "#{address.ip_address} #{__interface(index)}"
      end
    end

    private def __interface(index)
      Socket.getifaddrs.find { |i| i.ifindex == index }&.name || "ifindex:#{index}"
    end
  end

  # UDPSource of the `udp_server_*` methods.
  class UDPSource
    # `remote_address`: Who sent the message, an Addrinfo.
    # `local_address`: Where the message came to, an Addrinfo.
    attr_reader :remote_address, :local_address

    # A sender whom the block answers.
    def initialize(remote, local, &reply)
      @remote_address = remote
      @local_address = local
      @reply = reply
    end

    # Sends a message back.
    def reply(message) = @reply.call(message)
    # Both addresses.
    def inspect = "#<#{self.class}: #{@remote_address.inspect_sockaddr} to #{@local_address.inspect_sockaddr}>"
  end

  # A network interface's address.
  class Ifaddr
    # `name`: The name of the interface: "eth0".
    # `ifindex`: The number of the interface.
    # `flags`: Bits of Socket::IFF_ constants.
    # `addr`: The address as Addrinfo, or nil.
    # `netmask`: The mask of the network as Addrinfo, or nil.
    # `broadaddr`: The broadcast address as Addrinfo, or nil.
    # `dstaddr`: The address at the other end of a point-to-point link as Addrinfo, or nil.
    attr_reader :name, :ifindex, :flags, :addr, :netmask, :broadaddr, :dstaddr

    # :nodoc:
    def initialize(name, index, flags, addr, netmask, broadaddr, dstaddr)
      @name, @ifindex, @flags, @addr, @netmask, @broadaddr, @dstaddr = name, index, flags, addr, netmask, broadaddr, dstaddr
    end
    private_class_method :new

    # NotImplementedError: the system has no such numbers.
    def vhid = raise(NotImplementedError, "vhid is not supported on this system")

    # The name, the names of the flags, and the addresses.
    def inspect
      parts = [@name]
      names = Constants.constants.grep(/\AIFF_/).select { |c| @flags & Constants.const_get(c) != 0 }.map { |c| c.name.delete_prefix("IFF_") }
      parts << names.uniq.join(",") unless names.empty?
      parts << @addr.inspect_sockaddr if @addr
      parts << "netmask=#{@netmask.inspect_sockaddr}" if @netmask
      parts << "broadcast=#{@broadaddr.inspect_sockaddr}" if @broadaddr
      parts << "dstaddr=#{@dstaddr.inspect_sockaddr}" if @dstaddr
      "#<Socket::Ifaddr #{parts.join(" ")}>"
    end
  end

  # An error of name resolution.
  class ResolutionError
    # The number of the error: one of Socket::EAI_ constants.
    attr_reader :error_code
  end
end
