# Threads that wait at a descriptor when their VM ends, or is copied by fork(2), never let go of it: it is closed all the same.
# Pipes alone: on busy cores a worker may begin meanwhile, which has descriptors of its own.
def open_pipes = Dir.children("/proc/self/fd").count { |number| File.readlink("/proc/self/fd/#{number}").start_with?("pipe:") rescue false }

# Threads of a VM wait at a pipe; `closed`: which its main thread then closes.
def vms(count, closed)
  count.times do
    waiting = RubyVM::Channel.new
    vm = RubyVM.fork(waiting, closed) do |waiting, closed|
      r, _w = IO.pipe
      threads = 3.times.map { Thread.new { r.read(1) rescue nil } }
      Thread.pass until threads.all?(&:stop?)
      r.close if closed
      waiting << 1
      closed ? exit!(0) : sleep
    end
    waiting.recv
    vm.kill(grace: 0) unless closed
    vm.join(10) rescue nil
  end
end

[true, false].each do |closed|
  vms(5, closed)
  before = open_pipes
  vms(40, closed)
  p open_pipes - before
end

# A forked child has none of those who waited.
r, w = IO.pipe
reader = Thread.new { r.read(1) }
Thread.pass until reader.stop?
answer, said = IO.pipe
pid = fork do
  answer.close
  number = r.fileno
  r.close
  said.puts File.exist?("/proc/self/fd/#{number}")
  said.close
end
said.close
puts answer.read
Process.wait(pid)
w.write("x")
p reader.value
