# Descriptors that only a number stands for end with their VM, and no sooner; a number that was closed meanwhile is left alone.
require "socket"

def open_now = Dir.children("/proc/self/fd").size

def growth(&work)
  RubyVM.fork(&work).value
  GC.start
  before = open_now
  5.times { RubyVM.fork(&work).value }
  GC.start
  # A VM's last steps may be under way yet.
  100.times { open_now > before ? sleep(0.02) : break }
  (open_now - before).clamp(0, nil)
end

puts "-- gone with the VM"
p growth { 10.times { IO.sysopen("/dev/null") }; 1 }
p growth { 10.times { File.open("/dev/null").autoclose = false }; GC.start; 1 }
p growth { 10.times { IO.for_fd(IO.sysopen("/dev/null"), autoclose: false) }; GC.start; 1 }
p growth { f = File.open("/dev/null"); 10.times { f.fcntl(0, 10) }; 1 }
p growth {
  a, b = UNIXSocket.pair
  10.times { a.send_io(STDOUT); b.recv_io(nil) }
  1
}
p growth { Dir.open("/").then { |d| 5.times { Dir.for_fd(IO.sysopen("/")) } }; 1 }

puts "-- and no sooner"
n = IO.sysopen("/dev/zero")
IO.for_fd(n, autoclose: false).then { |io| p io.read(2) }
GC.start
p IO.for_fd(n).read(2)
f = File.open("/dev/zero")
f.autoclose = false
n = f.fileno
f = nil
GC.start
p IO.for_fd(n).tap { |io| p io.read(1) }.close

puts "-- the first who closes a number closes it for all"
GC.start
n = IO.sysopen("/dev/null")
one, two = IO.for_fd(n), IO.for_fd(n)
one.close
p((two.read rescue $!.class))
other = File.open("/dev/zero")
p other.fileno == n
RubyVM.fork { IO.sysopen("/dev/null"); 1 }.value
p other.read(1)

puts "-- closed behind the VM's back"
told = RubyVM::Channel.new
go = RubyVM::Channel.new
vm = RubyVM.fork(told, go) { |told, go| told << IO.sysopen("/dev/null"); go.recv; 1 }
n = told.recv
IO.for_fd(n).close
mine = File.open("/dev/zero")
p mine.fileno == n
go << 1
vm.value
p mine.read(1)
