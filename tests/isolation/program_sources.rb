# A program may come from a device without end, from a FIFO that nobody writes to, from standard input: whoever wants it to end is heard meanwhile.
require "tmpdir"
EXE = File.readlink("/proc/self/exe")

def ended(*command, by:, **)
  pid = spawn(EXE, *command, err: File::NULL, **)
  sleep 0.5
  Process.kill(by, pid)
  begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  until Process.wait(pid, Process::WNOHANG)
    return Process.kill(:KILL, pid) && Process.wait(pid) && :deaf if Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun > 10
    sleep 0.01
  end
  $?.termsig && Signal.signame($?.termsig)
end

Dir.mktmpdir do |dir|
  fifo = "#{dir}/fifo"
  File.mkfifo(fifo)
  p ended("/dev/zero", by: :TERM), ended("/dev/zero", by: :INT), ended(in: "/dev/zero", by: :TERM), ended(fifo, by: :TERM)

  # Nobody else's business.
  ["/dev/zero", fifo].each do |path|
    vm = RubyVM.new("reader", path).start
    sleep 0.1
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    vm.kill(grace: 0)
    begin
      vm.join
    rescue RubyVM::Error => e
      p e.class, Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun < 5
    end
  end
  begin
    RubyVM.new("reader", "/dev/zero", memory_limit: 50 << 20).start.join
  rescue RubyVM::Error => e
    puts e.message
  end

  # The same for `load`, which lets the others run while it waits.
  ["/dev/zero", fifo].each do |path|
    vm = RubyVM.new("loader", "-e", "load(#{path.dump})").start
    sleep 0.1
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    vm.kill(grace: 0)
    begin
      vm.join
    rescue RubyVM::Error => e
      p e.class, Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun < 5
    end
  end
  waiting = 20.times.map { RubyVM.new("loader", "-e", "load(#{fifo.dump})").start }
  p RubyVM.fork { 1 + 1 }.value
  # A reader that is about to end would take what is written below.
  waiting.each { |vm| vm.kill(grace: 0) }.each { |vm| vm.join rescue 0 }

  # Who writes late is waited for.
  program = "p 1 + 1, __FILE__ == #{fifo.dump}\n"
  writer = Thread.new { sleep 0.2; File.write(fifo, program) }
  system(EXE, fifo)
  writer.join
end

def piped(*args, text) = IO.popen([EXE, *args], "r+") { |io| io.write(text); io.close_write; io.read }
puts piped("p DATA.read, DATA.equal?(STDIN)\n__END__\nx\ny\n")
puts piped("-", "p gets, $<.class, STDIN.read\n__END__\nx\ny\n")
puts piped("p defined?(DATA), gets\n")

# The number of a Dir may be an IO's, too: the first that is closed closes it, and only once.
def tried = yield rescue $!.class
d = Dir.open("/")
io = IO.for_fd(d.fileno)
d.close
p tried { io.close }, tried { io.read }
d = Dir.open("/")
io = IO.for_fd(d.fileno)
io.close
p tried { d.read }, tried { d.close }
io = File.open("/")
d = Dir.for_fd(io.fileno)
p d.children.size > 3
io.close
p tried { d.children }, tried { d.close }
number = IO.sysopen("/")
a, b = Dir.for_fd(number), Dir.for_fd(number)
a.close
# It may be somebody else's by then.
other = File.open("/")
p other.fileno == number, tried { b.children }, tried { b.close }, other.stat.directory?

# A number whose descriptor is closed is no longer known: what has it then is another VM's.
p(RubyVM.fork do
  number = IO.sysopen("/dev/null")
  IO.for_fd(number).close
  neighbour, asks, answers = nil, RubyVM::Channel.new, RubyVM::Channel.new
  neighbour = RubyVM.fork(asks, answers) { |a, b| f = 20.times.map { File.open("/dev/zero") }; b << f.map(&:fileno); a.recv }
  theirs = answers.recv
  r = [theirs.include?(number), (IO.for_fd(number) rescue $!.class)]
  asks << 1
  neighbour.join
  r
end.value)
