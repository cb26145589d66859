# Without --gc=stress. Programs that try to hold more than their VM may (memory_limit: 64 MB), each in a process of its own: the process grows by no more than a quarter beyond the
# limit, and a VM beside it counts on. The table is support/memory_bombs.rb; a part of it runs without arguments, all with "--all", some with "--only PATTERN"; "--verbose" tells figures.
require_relative "support/memory_bombs"

LIMIT = 64 << 20
# Of so many, one runs in each test: with little time for those that take long.
SAMPLE_OF = 14

def peak = File.read("/proc/self/status")[/VmHWM:\s*(\d+)/, 1].to_i << 10

# One bomb: how much the process has grown, in MB, how it ended, and how far the neighbour has counted meanwhile.
def explode(source, seconds)
  stop = RubyVM::Channel.new
  started = RubyVM::Channel.new
  neighbour = RubyVM.fork(stop, started) do |channel, ready|
    n = 0
    until channel.try_recv
      1000.times { n += 1 }
      ready << true if n == 1000
      sleep 0.001
    end
    n
  end
  started.recv
  before = peak
  vm = RubyVM.fork(source, memory_limit: LIMIT, wall_limit: seconds, grace: 0, fd_limit: 200) do |text|
    eval(text)
    "ok"
  rescue NoMemoryError
    "memory"
  rescue Exception => e
    e.class.name
  end
  outcome = begin
    vm.value
  rescue RubyVM::Error => e
    (vm.report[:limit] || e.message).to_s
  end
  after = peak
  sleep 0.02
  stop << true
  puts [(after - before) / 1048576.0, outcome, neighbour.value].join("\t")
  $stdout.flush
  Process.exit!(0)
end

all = ARGV.include?("--all") || ARGV.include?("--only")
if (at = ARGV.index("--bomb"))
  explode(MEMORY_BOMBS.fetch(ARGV[at + 1]), ARGV[at + 2].to_f)
end

names = MEMORY_BOMBS.keys
if (at = ARGV.index("--only"))
  names = names.grep(Regexp.new(ARGV[at + 1]))
elsif !all
  names = names.each_slice(SAMPLE_OF).map(&:first)
end
exe = File.readlink("/proc/self/exe")
# Machine code and what it takes to make it are the process's, within a bound of their own (--jit-memory).
ENV["ZAKURO_JIT"] = "off"
jobs = Queue.new
names.each { |name| jobs << name }
jobs.close
results = {}
Array.new(2) do
  Thread.new do
    while (name = jobs.pop)
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      line = IO.popen([exe, "-W0", __FILE__, "--bomb", name, all ? "30" : "2", err: File::NULL]) do |io|
        watch = Thread.new { sleep 90; Process.kill(:KILL, io.pid) }
        io.read.tap { watch.kill }
      end
      grown, outcome, counted = line.split("\t")
      results[name] = [grown.to_f, outcome, counted.to_i]
      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
      puts "#{"%7.1f MB %6.2f s" % [grown.to_f, seconds]}  #{name}: #{outcome || "the process died (#{$?})"}" if ARGV.include?("--verbose")
    end
  end
end.each(&:join)

over = results.select { |_, (grown, outcome)| outcome.nil? || grown > LIMIT * 1.25 / (1 << 20) }
over.sort_by { |_, (grown)| -grown }.each { |name, (grown, outcome)| puts "#{name}: #{grown.round} MB, #{outcome || "the process died"}" }
stuck = results.select { |_, (_, _, counted)| counted < 2000 }.keys
puts "the neighbour stood still: #{stuck.join(", ")}" unless stuck.empty?
puts "#{over.size} pass the limit"
if all
  name, (grown, *) = results.max_by { |_, (grown)| grown }
  puts "#{results.size} bombs; the worst: #{name}, #{grown.round} MB"
  exit over.empty? && stuck.empty?
end
