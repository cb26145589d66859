# What belongs to the process as a whole is no other VM's to open, and what ends processes ends none.
def answer(&block) = RubyVM.fork(&block).value.then { p _1 }

answer { File.open("/proc/self/mem", "r+b") { 1 } rescue $!.class }
answer { File.open("/proc/self/mem", "rb") { 1 } rescue $!.class }
answer { File.write("/proc/self/oom_score_adj", "1000") rescue $!.class }
answer { Dir.chdir("/proc/self/task") { File.open("#{Dir.children(".").first}/mem") { 1 } } rescue $!.class }
answer { File.read("/proc/self/maps").size > 100 }
answer { File.open("/dev/null", "w") { _1 << 1; :written } }

# A reader finds that another thread took what it had looked at already.
20.times do |i|
  r, w = IO.pipe
  r.set_encoding("UTF-16LE:UTF-8") if i % 4 == 3
  lines = Thread.new { [r.gets, r.gets("zz"), r.gets(5), r.gets("", 7), r.each_line(chomp: true).to_a, r.readlines] rescue $! }
  taker = Thread.new { loop { r.read_nonblock(10) rescue sleep 0.0005 } }
  8.times { w << "é" * 3000 << ("\n" if i.odd?); Thread.pass; sleep 0.001 }
  w << "\n\n"
  w.close
  lines.join(5) or puts "hangs"
  taker.kill
end

# Beyond `ulimit -f` a write fails in the VM that wrote.
file = "/tmp/process_files_#{Process.pid}"
program = "p RubyVM.fork { File.write(ARGV[0], 'x' * 100_000) rescue $!.class }.value; p :alive"
puts IO.popen(["bash", "-c", "ulimit -f 1; exec \"$0\" -e \"$1\" \"$2\"", File.readlink("/proc/self/exe"), program, file], &:read)
File.unlink(file) if File.exist?(file)

# Whoever started the process may have had it ignore the ends of children.
puts IO.popen(["bash", "-c", "trap '' CHLD; exec \"$0\" -e \"$1\"", File.readlink("/proc/self/exe"), "p `echo 3`, $?.success?"], &:read)

# Two streams over one number: the first that is closed closes both, and what gets the number next is safe.
3.times do |i|
  r, w = IO.pipe
  twin = IO.for_fd(r.fileno)
  i == 1 ? r.close : twin.close
  other, = IO.pipe
  p [((twin.read rescue $!.class) if i == 1), ((r.read rescue $!.class) if i != 1), (twin.close rescue $!.class), (r.close rescue $!.class), (other.stat.pipe? rescue $!.class), other.closed?]
  p((w.write("x") rescue $!.class)) if i == 2
end
r, w = IO.pipe
waiter = Thread.new { r.read rescue $!.class }
Thread.pass until waiter.stop?
IO.for_fd(r.fileno).close
p waiter.join(5)&.value, r.closed?
a, keep = IO.pipe
IO.for_fd(a.fileno, autoclose: false).close
p((a.read_nonblock(1) rescue $!.class), keep.closed?)
