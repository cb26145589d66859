# Addrinfo, packed addresses, socket options and ancillary data as objects. Recorded with the reference.
require "socket"
list = [
  Addrinfo.tcp("127.0.0.1", 80), Addrinfo.udp("10.1.2.3", 53), Addrinfo.ip("192.168.0.1"), Addrinfo.tcp("::1", 443), Addrinfo.ip("fe80::1"), Addrinfo.ip("ff02::1"),
  Addrinfo.ip("::ffff:1.2.3.4"), Addrinfo.ip("fc00::5"), Addrinfo.ip("224.0.0.1"), Addrinfo.ip("::"), Addrinfo.unix("/tmp/s"), Addrinfo.unix("rel", :DGRAM)
]
list.each { |a| puts a.inspect, a.inspect_sockaddr }
p(list.map { |a| [a.afamily, a.pfamily, a.socktype, a.protocol, a.ip?, a.ipv4?, a.ipv6?, a.unix?] })
tests = Addrinfo.instance_methods(false).grep(/\Aipv[46]_.*\?\z/).sort
list.each { |a| p tests.select { |t| a.__send__(t) } }
p list[0].ip_unpack, list[3].ip_address, list[10].unix_path, list[6].ipv6_to_ipv4
p((list[10].ip_address rescue [$!.class, $!.message]), (list[0].unix_path rescue [$!.class, $!.message]))
p list.map { |a| Marshal.load(Marshal.dump(a)).inspect == a.inspect }
p list[0].marshal_dump, list[11].marshal_dump
p Addrinfo.new(["AF_INET", 80, "name", "127.0.0.1"]), Addrinfo.new(["AF_UNIX", "/x"])
p Addrinfo.new(Socket.sockaddr_in(80, "127.0.0.1")), Addrinfo.new("")
p list[0].getnameinfo(Socket::NI_NUMERICHOST | Socket::NI_NUMERICSERV)
p Socket.unpack_sockaddr_in(Socket.sockaddr_in(65535, "::1")), Socket.unpack_sockaddr_un(Socket.sockaddr_un("/a/b"))
p((Socket.unpack_sockaddr_in(Socket.sockaddr_un("/a")) rescue [$!.class, $!.message]), (Socket.pack_sockaddr_un("x" * 109) rescue [$!.class, $!.message]))
p Socket.sockaddr_in(80, "127.0.0.1").unpack("SnC4")
p Socket::Option.bool(:INET, :SOCKET, :KEEPALIVE, true), Socket::Option.linger(false, 3), Socket::Option.int(:INET6, :IPV6, :V6ONLY, 1), Socket::Option.new(:INET, :TCP, :CONGESTION, "reno")
p((Socket::Option.linger(1, 4).int rescue [$!.class, $!.message]))
p Socket::AncillaryData.int(:INET, :IP, :TTL, 9), Socket::AncillaryData.int(:UNIX, :SOCKET, :RIGHTS, 3).data
i = Socket::AncillaryData.ip_pktinfo(Addrinfo.ip("127.0.0.1"), 1, Addrinfo.ip("127.0.0.2"))
p i.ip_pktinfo, i.cmsg_is?(:IP, :PKTINFO)
p Socket::AncillaryData.ipv6_pktinfo(Addrinfo.ip("::1"), 7).ipv6_pktinfo
p list[0].family_addrinfo("10.0.0.1", 9), (list[0].family_addrinfo(list[1]) rescue [$!.class, $!.message])
