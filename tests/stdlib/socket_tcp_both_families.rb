# TCPSocket.new asks for both families of addresses of a host at once.
require "socket"
server = TCPServer.new("127.0.0.1", 0)
port = server.addr[1]
Thread.new { loop { server.accept.close } }
[nil, { delay: { ipv6: 30 } }, { delay: { ipv4: 10 } }, { delay: { ipv4: 10 }, error: { ipv6: Socket::EAI_FAIL } }].each do |settings|
  TCPSocket.open("localhost", port, test_mode_settings: settings) { |s| p s.class, s.remote_address.ipv4?, s.peeraddr(false)[1] == port }
end
TCPSocket.open("localhost", port, fast_fallback: false) { |s| p s.remote_address.ipv4? }
TCPSocket.open("localhost", port, nil, nil, connect_timeout: 5, resolv_timeout: 5) { |s| p s.read }
begin
  TCPSocket.new("localhost", port, test_mode_settings: { error: { ipv4: Socket::EAI_FAIL, ipv6: Socket::EAI_FAIL } })
rescue SocketError => e
  p e.class
end
begin
  TCPSocket.new("localhost", port, open_timeout: 0.01, test_mode_settings: { delay: { ipv4: 1000, ipv6: 1000 } })
rescue IO::TimeoutError => e
  p e.message.sub(port.to_s, "PORT")
end
closed = TCPServer.open("127.0.0.1", 0) { |s| s.addr[1] }
begin
  TCPSocket.new("localhost", closed)
rescue SystemCallError => e
  p e.class, e.message.sub(closed.to_s, "PORT")
end
begin
  TCPSocket.new("localhost", port, open_timeout: 1, connect_timeout: 1)
rescue ArgumentError => e
  p e.message
end
