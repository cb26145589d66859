# recvmsg, recv and recvfrom where the other end is closed: streams, messages, packets in order.
# Needs the standard library.
require "socket"

def tell(what)
  p [what, yield]
rescue IO::WaitReadable
  p [what, :wait]
rescue => e
  p [what, e.class]
end

TCPServer.open("127.0.0.1", 0) do |server|
  client = TCPSocket.new("127.0.0.1", server.addr[1])
  peer = server.accept
  peer.write("ab")
  tell(:message) { client.recvmsg(10).values_at(0) }
  tell(:none) { client.recvmsg_nonblock(10) }
  peer.close
  tell(:recvmsg) { client.recvmsg(10) }
  tell(:recvmsg_nonblock) { client.recvmsg_nonblock(10) }
  tell(:recv) { client.recv(10) }
  tell(:recvfrom) { client.recvfrom(10) }
  client.close
end

%i[STREAM SEQPACKET DGRAM].each do |type|
  a, b = UNIXSocket.pair(type)
  b.sendmsg("xy")
  tell(type) { a.recvmsg(10)[0] }
  b.close
  tell(type) { type == :DGRAM ? a.recvmsg_nonblock(10) : a.recvmsg(10) }
  tell(type) { type == :DGRAM ? a.recv_nonblock(10) : a.recv(10) }
  a.close
end
