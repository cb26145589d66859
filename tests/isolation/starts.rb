# A start for which the system has too little says so in one line, with status 1; and what is short later is an error of the VM that asks.
EXE = File.readlink("/proc/self/exe")

def start(limits, program = "puts 42", how: "bash")
  # Whoever started this may have left descriptors open.
  script = "exec #{(3..9).map { "#{_1}>&-" }.join(" ")}; #{limits}; exec \"$0\" -e \"$1\""
  r, w = IO.pipe
  # The environment stands on the same stack: a large one leaves nothing of 16 KB even for the loader.
  pid = spawn({ "PATH" => ENV["PATH"] }, *how.split, "-c", script, EXE, program, out: w, err: w, unsetenv_others: true)
  w.close
  said = r.read
  Process.wait(pid)
  [said, $?.termsig || $?.exitstatus]
end

# Either it runs, or it ends with that line: never by a signal, a panic, or something else on standard error.
def tell(limits, **)
  said, status = start(limits, **)
  good = status == 0 ? said == "42\n" : status == 1 && said.lines.size == 1 && said.match?(/\Azakuro: can't start: .*ulimit -[nuvsd]/)
  puts "#{limits}: #{good ? (status == 0 ? "runs" : "refused") : [said, status].inspect}"
end

# The loader of the system itself may have no room for the file.
def loader?(said, status) = status == 127 && said.match?(/\A\S+: error while loading shared libraries: .*\n\z/)

def either(limits, **)
  said, status = start(limits, **)
  said, status = "zakuro: can't start: the loader, ulimit -v\n", 1 if loader?(said, status)
  good = status == 0 && said == "42\n" || status == 1 && said.lines.size == 1 && said.match?(/\Azakuro: can't start: .*ulimit -[nuvs]/)
  puts "#{limits}: #{good ? "runs or is refused" : [said, status].inspect}"
end

puts "-- descriptors"
tell "ulimit -n 4"
tell "ulimit -n 5"
tell "ulimit -n 64"
puts "-- native stack"
[16, 32, 64, 256, 1024].each { |n| tell "ulimit -s #{n}" }
puts "-- address space, in kB"
[70_000, 80_000, 100_000, 120_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000, 500_000].each { |n| either "ulimit -v #{n}" }
tell "ulimit -v 1000000"
puts "-- data, in kB"
# Below that the kernel has no room for the program's own data, and ends it.
[4_000, 5_000, 10_000, 20_000, 36_000, 50_000, 70_000, 100_000, 200_000, 300_000, 400_000].each do |n|
  said, status = start("ulimit -d #{n}")
  said, status = "zakuro: can't start: ulimit -d", 1 if loader?(said, status)
  good = status == 0 && said == "42\n" || status == 1 && said.match?(/\Azakuro: can't start: .*ulimit -d/) && !said.include?("ulimit -v")
  puts "ulimit -d #{n}: #{good ? "runs or is refused" : [said, status].inspect}"
end
tell "ulimit -d 1000000"
puts "-- several"
tell "ulimit -s 16; ulimit -n 5"
either "ulimit -s 16; ulimit -v 200000"
either "ulimit -n 64; ulimit -v 300000; ulimit -s 64"

# The number of threads does not bind root.
puts "-- threads"
other = Process.uid == 0 ? "setpriv --reuid=61111 --regid=61111 --clear-groups bash" : "bash"
if system(*other.split, "-c", 'test -x "$0"', EXE)
  r = %w[1 2 3 4 50].map { |n| start("ulimit -u #{n}", how: other) }
  r = r.map { |said, status| status == 0 && said == "42\n" ? :runs : status == 1 && said.match?(/\Azakuro: can't start: the scheduler needs two threads.*\n\z/) ? :refused : [said, status] }
else
  r = [:refused, :refused, :runs, :runs, :runs]
end
r = r.map { |x| Symbol === x ? x : x.inspect }
p r[0], r.last, r - %i[runs refused]

puts "-- streams and surroundings"
[["0<&-"], ["1>&-"], ["2>&-"], ["0<&- 1>&- 2>&-"]].each do |(closed)|
  r, w = IO.pipe
  pid = spawn("bash", "-c", "exec \"$0\" -e 'puts 1; $stderr.puts 2; p gets; exit 7' #{closed} 3>&-", EXE, out: w, err: w, in: File::NULL)
  w.close
  said = r.read
  Process.wait(pid)
  puts "#{closed}: #{said.lines.map(&:chomp).sort.inspect} #{$?.exitstatus}"
end
p IO.popen(["env", "-i", EXE, "-e", "p ENV.to_h, __FILE__, Encoding.default_external"], &:read)
require "tmpdir"
Dir.mktmpdir do |dir|
  Dir.mkdir("#{dir}/gone")
  p IO.popen(["sh", "-c", 'cd "$1" && rmdir ../gone && exec "$0" -e "p((Dir.pwd rescue \$!.class), RubyVM.fork { 3 }.value)"', EXE, "#{dir}/gone"], &:read)
end
p IO.popen(["sh", "-c", '"$0" --version | true; "$0" --help | true; echo ok'.gsub("$0", EXE)], err: File::NULL, &:read)

puts "-- later"
many = <<~'RUBY'
  n = ENV["ZAKURO_TEST_SCALE"] == "small" ? 500 : 10_000
  p (1..n).each_slice(1000).sum { |s| s.map { |i| RubyVM.fork(i) { |k| k } }.sum(&:value) } == n * (n + 1) / 2
  a = []
  p((loop { a << File.open(__FILE__ == "-e" ? "/dev/null" : __FILE__) } rescue $!.class))
  p RubyVM.fork { File.open("/dev/null").class rescue $!.class }.value
  a.each(&:close)
  p RubyVM.fork { File.open("/dev/null").class }.value
  Dir.chdir("/")
  b = []
  p((loop { b << RubyVM.fork { sleep } } rescue $!.class))
  b.each { |v| v.kill(grace: 0) }
RUBY
said, status = start("ulimit -n 64", many)
puts said, status
said, status = start("ulimit -u 50", many.lines.first(2).join, how: other)
puts said, status
# Needs the standard library.
