# Sockets as a program uses them: TCP, UDP, UNIX, messages, options, waiting without blocking. Recorded with the reference.
require "socket"
require "timeout"
require "io/wait"

def show(name)
  print name, ": "
  p yield
rescue Exception => e
  puts "#{e.class}: #{e.message}"
end

server = TCPServer.new("127.0.0.1", 0)
port = server.addr[1]
serving = Thread.new do
  loop do
    Thread.new(server.accept) do |c|
      while (line = c.gets)
        c.puts line.chomp.reverse
      end
      c.write "bye"
      c.close
    end
  end
end

show("echo") { TCPSocket.open("127.0.0.1", port) { |c| c.puts "hello"; c.puts "you"; [c.gets, c.gets, c.tap(&:close_write).read, c.eof?] } }
show("encoding") { TCPSocket.open("127.0.0.1", port) { |c| c.puts "\u00e9"; [c.gets.encoding == Encoding::BINARY, c.binmode?, c.sync, c.do_not_reverse_lookup] } }
show("many") { 50.times.map { |i| Thread.new { TCPSocket.open("127.0.0.1", port) { |c| c.puts i; c.gets.to_i } } }.sum { |t| t.value.digits.join.to_i } }
show("addresses") do
  TCPSocket.open("127.0.0.1", port) do |c|
    [c.peeraddr == ["AF_INET", port, "127.0.0.1", "127.0.0.1"], c.remote_address.ip_port == port, c.local_address.ipv4_loopback?,
     Socket.unpack_sockaddr_in(c.getpeername) == [port, "127.0.0.1"]]
  end
end
serving.kill
serving.join
# What nobody has accepted.
nil until server.accept_nonblock(exception: false) == :wait_readable
show("accept_nonblock") { server.accept_nonblock(exception: false) }
show("accept_nonblock raises") { server.accept_nonblock }
show("wait_readable of a modules") { server.accept_nonblock rescue $!.is_a?(IO::WaitReadable) }
show("timeout") { Timeout.timeout(0.05) { server.accept } }
show("kill") { t = Thread.new { server.accept }; Thread.pass until t.stop?; t.kill; t.join(5).equal?(t) }
show("close in another thread") { t = Thread.new { server.accept rescue $!.class }; Thread.pass until t.stop?; server.close; t.value }
show("refused") { TCPSocket.new("127.0.0.1", 1) }
show("no server any more") { TCPSocket.new("127.0.0.1", port).class rescue $!.class }

a, b = UNIXSocket.pair
show("pair") { a.write("abc"); [b.recv(2), b.recv_nonblock(5), b.recv_nonblock(1, exception: false)] }
show("would block") { b.recv_nonblock(1) }
show("peek") { a.send("xy", 0); [b.recv(2, Socket::MSG_PEEK), b.recv(2)] }
show("select") { a.write("1"); [IO.select([b], [b], nil, 1).map(&:size), IO.select([a], nil, nil, 0)] }
show("wait") { [a.wait(0, :w).equal?(a), a.wait(0, :r), a.wait(IO::READABLE | IO::WRITABLE, 5).nil?, b.wait(5).equal?(b), b.wait_readable(0).equal?(b), a.wait_readable(0)] }
show("buffered") { a.write("2\n3"); [b.gets, (b.recv(1) rescue $!.message), b.read(1)] }
show("large") { w = Thread.new { a.write("z" * 2_000_000); a.close_write }; n = b.read.size; w.join; n }
show("closed for writing") { a.write("x") }
show("broken pipe") { b.close; x, y = UNIXSocket.pair; y.close; x.write("x") }
show("a descriptor in a message") do
  x, y = UNIXSocket.pair
  r, w = IO.pipe
  x.send_io(w)
  w.close
  io = y.recv_io
  io.write "through"
  io.close
  [io.class, r.read]
end
show("ancillary data") do
  x, y = UNIXSocket.pair
  x.sendmsg("m", 0, nil, Socket::AncillaryData.unix_rights(STDIN))
  text, from, flags, control = y.recvmsg(scm_rights: true)
  [text, from.class, control.cmsg_is?(:SOCKET, :RIGHTS), control.unix_rights.size, control.unix_rights[0].class]
end
show("two streams on one descriptor") do
  x, y = UNIXSocket.pair
  other = IO.for_fd(y.fileno, autoclose: false)
  readers = [y, other, y, other].map { |io| Thread.new { io.sysread(1) } }
  Thread.pass until readers.all?(&:stop?)
  x.write("abcd")
  readers.map(&:value).sort
end
show("datagrams") do
  x, y = UNIXSocket.pair(:DGRAM)
  x.send("one", 0)
  x.send("two", 0)
  [y.recv(2), y.recv(10)]
end

one, two = UDPSocket.new, UDPSocket.new
one.bind("127.0.0.1", 0)
two.connect("127.0.0.1", one.addr[1])
show("udp") do
  two.send("hello", 0)
  text, from = one.recvfrom(10)
  one.send("back", 0, from[3], from[1])
  [text, from[0], from[3], two.recv(10)]
end
show("udp nothing there") { one.recvfrom_nonblock(1) }
show("options") do
  one.setsockopt(:SOCKET, :BROADCAST, true)
  [one.getsockopt(:SOCKET, :BROADCAST).bool, one.getsockopt(Socket::SOL_SOCKET, Socket::SO_TYPE).int == Socket::SOCK_DGRAM,
   Socket::Option.linger(true, 5).linger, Socket::Option.int(:INET, :TCP, :NODELAY, 1)]
end
show("unknown names") { one.setsockopt(:SOCKET, :NO_SUCH, 1) }
show("connect_nonblock") do
  s = Socket.new(:INET, :STREAM)
  s.bind(Addrinfo.tcp("127.0.0.1", 0))
  s.listen(5)
  c = Socket.new(:INET, :STREAM)
  first = c.connect_nonblock(s.local_address, exception: false)
  c.wait_writable(5)
  accepted, = s.accept
  accepted.write "in"
  accepted.close
  [first, c.connect_nonblock(s.local_address, exception: false), c.read]
end
show("Socket.tcp") do
  Socket.tcp_server_sockets("127.0.0.1", 0) do |list|
    t = Thread.new { Socket.accept_loop(list) { |c, from| c.write "hi #{from.ip_address}"; c.close } }
    text = Socket.tcp("127.0.0.1", list[0].local_address.ip_port, connect_timeout: 5, &:read)
    t.kill
    text
  end
end
show("abstract name") do
  name = "\0zakuro-test-#{$$}-#{rand(1 << 40)}"
  s = UNIXServer.new(name)
  c = UNIXSocket.new(name)
  [s.accept.addr == ["AF_UNIX", name], c.peeraddr == ["AF_UNIX", name]]
end
show("NUL, client") { UNIXSocket.new("a\0b") }
show("NUL, server") { UNIXServer.new("a\0b") }
show("NUL, address") { [Socket.sockaddr_un("a\0b").bytesize, Socket.sockaddr_un("\0a\0b")] }
show("closed") { s = UDPSocket.new; s.close; s.send("x", 0, "127.0.0.1", 1) }
show("names") { [Socket.gethostname.class, Socket.getservbyname("http"), Socket.getaddrinfo("127.0.0.1", 80, nil, :STREAM)] }
show("classes") { [TCPServer.ancestors.take(5), UNIXServer.superclass, UDPSocket.superclass, SocketError.superclass] }
# Needs the standard library.
