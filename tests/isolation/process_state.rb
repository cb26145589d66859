# What there is once in a process is the main VM's; what can be a VM's own is its own. docs/process-state.md has the table.
require "tmpdir"

def vm(code, *args)
  c = RubyVM::Channel.new
  v = RubyVM.new("main", "-e", <<~RUBY + code).start(c, *args)
    $out, *$args = RubyVM::ARGV
    def show
      $out << yield
    rescue SystemCallError, SignalException
      $out << "\#{$!.class}: \#{$!.message}"
    end
  RUBY
  v.join rescue RubyVM::Error
  [v.report[:kind], v.status, *c.size.times.map { c.recv }].inspect
end

puts "limits"
soft, hard = Process.getrlimit(:NOFILE)
p Process.setrlimit(:NOFILE, soft, hard)
puts vm('show { Process.setrlimit(:NOFILE, 3) }; show { Process.setrlimit(:CPU, 1, 1) }')
p Process.getrlimit(:NOFILE) == [soft, hard]

puts "signals to itself"
puts vm('show { Process.kill(:TERM, $$); sleep 1 }')
puts vm('Process.kill(:TERM, $$); sleep 1')
puts vm('Process.kill(:KILL, $$); sleep 1; $out << :alive')
puts vm('Process.kill(:ABRT, $$); sleep 1; $out << :alive')
puts vm('trap(:USR1) { $out << :trapped }; Process.kill(:USR1, $$); trap(:TERM, "IGNORE"); Process.kill(:TERM, $$); Process.kill(:CHLD, $$); $out << :alive')
puts vm('show { Process.kill(:STOP, $$) }; show { Process.kill(:TERM, 0) }; show { Process.kill(-15, Process.getpgrp) }; show { Process.kill(:TERM, -1) }')
puts vm('show { Process.kill(:TERM, Dir.children("/proc/self/task").map(&:to_i).max); sleep 1 }')
puts vm('show { Process.kill(0, $$) }')

puts "signals to the process: a trap in another VM does not keep them from the main VM"
traps = RubyVM::Channel.new
asked = RubyVM::Channel.new
other = RubyVM.new("other", "-e", 'out, ask = RubyVM::ARGV; trap(:TERM) { out << :term }; trap(:USR1) { out << :usr1 }; out << :ready; ask.recv').start(traps, asked)
p traps.recv
begin
  Process.kill(:TERM, $$)
  sleep 5
rescue SignalException
  p $!
end
p traps.recv
Process.kill(:USR1, $$)
p traps.recv
asked << 1
other.join

puts "exec"
puts vm('exec "exit 7"')
p Process.pid == $$

puts "children"
pid = spawn("sleep 5")
puts vm('show { Process.wait($args[0]) }; show { Process.wait }; $out << Process.waitall; show { Process.wait(spawn("exit 3")) > 0 }; $out << $?.exitstatus', pid)
p $?
Process.kill(:KILL, pid)
p Process.wait(pid) == pid, $?.termsig
# The child of a VM that has ended is not left to be a zombie.
orphan = vm('$out << spawn("exit 0")')[/\d+(?=\]\z)/]
gone = 2000.times.find { system("true"); !File.exist?("/proc/#{orphan}") }
p gone.class

puts "directory, mask, variables"
Dir.mktmpdir do |dir|
  here = Dir.pwd
  mask = File.umask
  zone = Time.at(0).to_s
  puts vm('Dir.chdir($args[0]); File.umask(0o777); ENV["TZ"] = "Asia/Tokyo"; ENV["HOME"] = "/"; $0 = "renamed"; Process.setproctitle("renamed")', dir)
  p Dir.pwd == here, File.umask == mask, Time.at(0).to_s == zone, File.read("/proc/self/cmdline").include?("renamed")

  puts "locks"
  path = File.join(dir, "lock")
  f = File.open(path, "w")
  f.flock(File::LOCK_EX)
  puts vm('File.open($args[0]) { |f| $out << f.flock(File::LOCK_EX | File::LOCK_NB) }', path)
  f.flock(File::LOCK_UN)
  puts vm('File.open($args[0]) { |f| $out << f.flock(File::LOCK_EX | File::LOCK_NB) }', path)

  puts "descriptors"
  f.write "kept"
  puts vm('show { IO.for_fd($args[0]) }; show { spawn("true", 5 => $args[0]) }', f.fileno)
  puts vm('show { $stdout.fcntl(4, File::NONBLOCK) }; show { $stderr.close_on_exec = true }; show { STDIN.fcntl(3).class }; show { $stdout.fcntl(5, 0) }')
  puts vm('f = File.open($args[0]); show { f.fcntl(4, File::NONBLOCK) }; show { f.fcntl(8, $$) }; show { IO.for_fd(f.fileno, autoclose: false).fileno == f.fileno }; n = IO.sysopen($args[0]); show { IO.for_fd(n).read }', path)
  puts vm('$stdout.close; STDERR.close; STDIN.close; $stdout.reopen($args[0], "w") rescue $out << $!.class; IO.for_fd(1).close', File.join(dir, "other"))
  f.close
  p File.read(path)
end
puts "still here"
# Needs the standard library.
