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

# Whose time it is that is over.
def told
  yield
rescue IO::TimeoutError, SystemCallError => e
  puts "#{e.class}: #{e.message}"
end
told { Socket.tcp("192.0.2.1", 80, open_timeout: 0) }
told { TCPSocket.new("192.0.2.1", 80, open_timeout: 0) }
told { Socket.tcp("192.0.2.1", 80, connect_timeout: 0) }
told { Addrinfo.tcp("192.0.2.1", 80).connect(timeout: 0) }
