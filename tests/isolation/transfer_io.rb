# IO objects travel as duplicates of the descriptor.
require "tmpdir"
path = "#{Dir.tmpdir}/transfer_io_#{Process.pid}"
fds = -> { Dir.children("/proc/self/fd").size }
there = RubyVM::Channel.new
back = RubyVM::Channel.new
vm = RubyVM.new("ruby", "-e", <<~'RUBY')
  there, back = RubyVM::ARGV
  there.each { |f, io| back << f.call(io) }
RUBY
vm.start(there, back)
remote = lambda do |io, &f|
  there << [f, io]
  back.recv
end
File.open(path, "w+") do |f|
  f.write("one\n")
  p remote.(f) { |io| io.write("two\n"); io.flush; [io.class, io.path == __FILE__, io.pos, io.sync] }
  f.write("three\n")
  f.rewind
  p f.read
  f.rewind
  p f.gets, f.lineno
  # Position is shared, line numbers and modes go along.
  p remote.(f) { |io| [io.gets, io.lineno, io.closed?] }
  p f.gets
  p remote.(f) { |io| io.close; io.closed? }, f.closed?
end
File.open(path, "r:iso-8859-1:utf-8") { |f| p remote.(f) { |io| [io.external_encoding, io.internal_encoding, (io.write("x") rescue $!.message)] } }
f = File.open(path)
f.close
p remote.(f) { |io| [io.closed?, (io.read rescue $!.message)] }
r, w = IO.pipe
w.sync = true
p remote.(w) { |io| io.puts "through a pipe"; [io.sync, io.close] }, r.gets
w.close
p r.read, remote.(r) { |io| io.read }
r.close
p remote.($stdout) { |io| [io.fileno, io == $stdout || io.fileno == $stdout.fileno] }
p remote.($stderr) { |io| [io.fileno, io.sync] }
# Descriptors of messages that nobody receives are given back.
GC.start
before = fds.()
File.open(path) do |f|
  lost = RubyVM::Channel.new
  20.times { lost << [f, { io: f }] }
  p fds.() > before + 10
  lost = nil
end
3.times { GC.start; [Object.new] * 10 }
# Also those of a message that couldn't be sent, or opened.
class Unknown; end
File.open(path) do |f|
  10.times { there << [f, Mutex.new] rescue nil }
end
dying = RubyVM.new("ruby", "-e", "ch = RubyVM::ARGV[0]; 5.times { ch.recv rescue nil }")
ch = RubyVM::Channel.new
dying.start(ch)
File.open(path) { |f| 10.times { ch << [f, Unknown.new] } }
dying.join
ch.recv until ch.empty?
ch = dying = nil
there.close
vm.join
vm = remote = nil
10.times { GC.start }
p fds.() <= before
# Moved: the sender's stream is no more.
ch = RubyVM::Channel.new
f = File.open(path)
ch.send(f, move: true)
p((f.read rescue $!.class), ch.recv.gets)
File.delete(path)
# Needs the standard library.
