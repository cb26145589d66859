# The process's title, its root and its system calls are the main VM's (and those calls also a VM's that may call foreign code).
def shown = File.read("/proc/self/cmdline").split("\0").first

$0 = "main's"
p shown, $0
p RubyVM.fork { $0 = "another's"; Process.setproctitle("a third one"); [shown, $0, $PROGRAM_NAME] }.value, shown, $0
p RubyVM.fork { Dir.chroot("/") rescue $!.class }.value
p RubyVM.fork { begin; syscall(-1); rescue SecurityError, SystemCallError => e; e.class; end }.value
p RubyVM.fork(foreign: true) { begin; syscall(-1); rescue SecurityError, SystemCallError => e; e.class; end }.value
# A title that is longer than the arguments is cut off, or stands elsewhere; the variables behind them stay.
$0 = "x" * 3000
p shown.match?(/\Ax+\z/), shown.size <= 3000, `echo $HOME`.chomp == ENV["HOME"]
Process.setproctitle("short again")
p shown, $0.size
p IO.popen([{ "IN_CHILD" => "1" }, "sh", "-c", "echo $IN_CHILD"], &:read)
# Each main VM of a forked process has the title that it sets.
pid = Process.fork { $0 = "the child's"; exit!(shown == "the child's" ? 7 : 8) }
Process.wait(pid)
p $?.exitstatus, shown

# What a program does with $DEBUG in one VM is not told of others.
main = $stderr.dup
log = "/tmp/zakuro_debug_#{$$}"
$stderr.reopen(log, "w")
$DEBUG = true
RubyVM.fork { $DEBUG = false; begin; raise "quiet"; rescue; end }.join
RubyVM.new("plain", "-e", "begin; raise 'quiet, too'; rescue; end").start.join
begin; raise "told"; rescue; end
$DEBUG = false
$stderr.reopen(main)
puts File.read(log)
File.delete(log)
