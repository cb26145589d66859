# Urgent data in line: a read stops at its mark, and what is behind is read, too.
require "socket"
server = TCPServer.new("127.0.0.1", 0)
client = TCPSocket.new("127.0.0.1", server.addr[1])
socket = server.accept
socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_OOBINLINE, 1)
answers = Thread.new { Array.new(4) { socket.gets } }
["ONE\r\n", "TWO\r\n", "3\n"].each do |line|
  sleep 0.05
  client.send(line, Socket::MSG_OOB)
end
client.puts "four"
p answers.value

# Out of line it is asked for, and missing in the stream.
client = TCPSocket.new("127.0.0.1", server.addr[1])
socket = server.accept
client.send("ab!", Socket::MSG_OOB)
p IO.select(nil, nil, [socket], 10)&.map(&:size), socket.recv(1, Socket::MSG_OOB)
client.write("cd\n")
p socket.gets

# Whose time it is that is over. A server that takes no more connections answers none; where the machine's network ends is nobody's matter.
full = Socket.new(:INET, :STREAM)
full.bind(Addrinfo.tcp("127.0.0.1", 0))
full.listen(0)
port = full.local_address.ip_port
waiting = Array.new(3) do
  Socket.new(:INET, :STREAM).tap { |socket| socket.connect_nonblock(full.local_address, exception: false) }
end
told = lambda do |&connect|
  connect.call
rescue IO::TimeoutError, SystemCallError => e
  puts "#{e.class}: #{e.message.sub(port.to_s, "PORT")}"
end
told.call { Socket.tcp("127.0.0.1", port, open_timeout: 0) }
told.call { TCPSocket.new("127.0.0.1", port, open_timeout: 0) }
told.call { Socket.tcp("127.0.0.1", port, connect_timeout: 0) }
told.call { Addrinfo.tcp("127.0.0.1", port).connect(timeout: 0) }
p waiting.size
