# `Socket.tcp` asks for both families of a host's addresses at once, and tries the next address while the last has not answered.
require "socket"

def resolve(&block)
  Addrinfo.define_singleton_method(:getaddrinfo) { |_host, _port, family, *| block.call(family) }
end

def try(**options)
  socket = Socket.tcp("localhost", @port, **options)
  address = socket.remote_address.ip_address
  socket.close
  address
rescue SystemCallError, SocketError, IO::TimeoutError => e
  [e.class, e.message.sub(@port.to_s, "PORT")]
end

server = TCPServer.new("127.0.0.1", 0)
@port = server.addr[1]
thread = Thread.new { loop { server.accept.close } }
v4 = [Addrinfo.tcp("127.0.0.1", @port)]
v6 = [Addrinfo.tcp("::1", @port)]

resolve { |family| family == Socket::AF_INET6 ? sleep : v4 }
p try
resolve { |family| family == Socket::AF_INET6 ? v6 : (sleep(0.01); v4) }
p try
resolve { |family| family == Socket::AF_INET6 ? raise(SocketError, "first") : (sleep(0.01); v4) }
p try
resolve { |family| family == Socket::AF_INET6 ? raise(SocketError, "first") : (sleep(0.01); raise(SocketError, "last")) }
p try
resolve { |_| sleep }
p try(resolv_timeout: 0.01), try(open_timeout: 0.01)
resolve { |_| v4 }
p Socket.tcp("localhost", @port, fast_fallback: false) { |s| s.remote_address.ip_address }
p Thread.list.size
thread.kill
server.close
resolve { |family| family == Socket::AF_INET6 ? (sleep(0.05); raise(Socket::ResolutionError, "later")) : v4 }
p try
resolve { |family| family == Socket::AF_INET6 ? sleep : v4 }
p try(resolv_timeout: 0.01), try(open_timeout: 0.01)

# What comes beside a message, in words.
data = Socket::AncillaryData
ENV["TZ"] = "UTC"
p data.new(:UNIX, :SOCKET, :RIGHTS, [0, 1].pack("i*")), data.new(:UNIX, :SOCKET, :RIGHTS, "abc"), data.unix_rights(STDIN, STDOUT)
p data.new(:UNIX, :SOCKET, :CREDENTIALS, [1, 2, 3].pack("i*")), data.new(:UNIX, :SOCKET, :CREDENTIALS, [1, 2].pack("i*"))
p data.new(:INET, :SOCKET, :TIMESTAMP, [1700000000, 5].pack("qq")), data.new(:INET, :SOCKET, :TIMESTAMPNS, [1700000000, 5].pack("qq"))
p data.new(:INET6, :SOCKET, :TIMESTAMPNS, [1700000000].pack("q")), data.new(:INET, :IP, :TTL, [64].pack("i"))

# A connection of messages has an end; a datagram may be empty.
a, b = UNIXSocket.pair(:SEQPACKET)
a.close
p b.recv(10), b.recv_nonblock(10)
a, b = UNIXSocket.pair(:DGRAM)
a.send("", 0)
p b.recv(10)

p Socket.pack_sockaddr_un(""), Socket.unpack_sockaddr_un(Socket.pack_sockaddr_un(""))
UNIXServer.open("") { |s| p s.local_address.unix_path.match?(/\A\0\h{5}\z/) }
begin
  UDPSocket.new.send("a" * 100_000, 0, "127.0.0.1", 7)
rescue SystemCallError => e
  p e.message
end
