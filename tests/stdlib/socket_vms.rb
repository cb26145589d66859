# Sockets and VMs: inherited by forks, sent through channels, a VM that is killed in each of the waits, descriptors given back.
require "socket"
$stdout.sync = true
open_descriptors = -> { Dir.children("/proc/self/fd").size }
before = open_descriptors.call

# Four VMs accept from one listening socket.
server = TCPServer.new("127.0.0.1", 0)
port = server.addr[1]
workers = 4.times.map { RubyVM.fork { loop { c = server.accept; c.puts c.gets.to_i * 2; c.close } } }
p 40.times.map { |i| Thread.new { TCPSocket.open("127.0.0.1", port) { |c| c.puts i; c.gets.to_i } } }.map(&:value).sum
workers.each { |v| v.kill(grace: 0) }
p(workers.map { |v| v.join rescue $!.class }.uniq)

# One accepts, another one serves.
jobs = RubyVM::Channel.new
worker = RubyVM.fork { while (c = jobs.recv); c.write "served #{c.gets}"; c.close; end; :done }
accepting = Thread.new { 3.times { c = server.accept; jobs << c; c.close } }
3.times { |i| TCPSocket.open("127.0.0.1", port) { |c| c.puts i; p c.read } }
accepting.join
jobs << nil
p worker.value
server.close

# What was read ahead comes along, the class and the kind too.
a, b = UNIXSocket.pair
a.write("line 1\nline 2\n")
p b.gets
answer = RubyVM::Channel.new
reader = RubyVM.fork { s = jobs.recv; answer << [s.class, s.gets, s.recv_nonblock(1, exception: false)] }
jobs << b
p answer.recv
reader.join
a.close
b.close

# Killed while it waits.
waits = [
  -> { TCPServer.new("127.0.0.1", 0).tap { yield_ready }.accept },
  -> { x, = keep(UNIXSocket.pair); yield_ready; x.recv(1) },
  -> { x, = keep(UNIXSocket.pair); yield_ready; x.gets },
  -> { x, = keep(UNIXSocket.pair); yield_ready; IO.select([x]) },
  -> { x, = keep(UNIXSocket.pair); yield_ready; x.wait_readable },
  -> { x, = keep(UNIXSocket.pair); yield_ready; x.write("x" * 10_000_000) },
  -> { x, = keep(UNIXSocket.pair); yield_ready; 100.times.map { Thread.new { x.recv(1) } }.each(&:join) },
  -> { u = UDPSocket.new; u.bind("127.0.0.1", 0); yield_ready; u.recvfrom(1) }
]
$ready = RubyVM::Channel.new
$kept = []
def keep(pair) = $kept.concat(pair) && pair
def yield_ready = $ready << true
stuck = waits.map { |w| RubyVM.fork { w.call } }
stuck.size.times { $ready.recv }
stuck.each { |v| v.kill(grace: 0) }
p(stuck.map { |v| v.join rescue $!.message[/killed/] }.tally)

# Each VM has its own servers and clients.
p 50.times.map {
  RubyVM.fork do
    s = TCPServer.new("127.0.0.1", 0)
    t = Thread.new { c = s.accept; c.write c.gets.upcase; c.close }
    text = TCPSocket.open("127.0.0.1", s.addr[1]) { |c| c.puts "abc"; c.read }
    t.join
    text
  end
}.map(&:value).tally
GC.start
p open_descriptors.call - before

# Required in one VM, unknown in another.
p RubyVM.fork { BasicSocket.do_not_reverse_lookup = false; BasicSocket.do_not_reverse_lookup }.value, BasicSocket.do_not_reverse_lookup
fresh = RubyVM.new("fresh", "-e", "begin; Socket; rescue NameError => e; puts e.message; end")
fresh.start
fresh.join
