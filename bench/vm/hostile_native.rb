# How long neighbours stand still while others are in native calls that nothing interrupts: as many hostile VMs as CPUs, each in one call of seconds, and a neighbour that sleeps
# for a millisecond at a time and keeps the longest gap. Then more hostile VMs than CPUs, and neighbours that compute. Under the reference, which has one lock for all, threads.
# hostile_native.rb [SCALE] prints lines `name value unit`.
require "etc"

SCALE = (ARGV[0] || 1.0).to_f
CPUS = (ENV["RUBY_MAX_CPU"] || Etc.nprocessors).to_i
DIGITS = (3_000_000 * SCALE).to_i
ZAKURO = defined?(RubyVM::Channel)

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# Each makes what it needs, says so, and makes its call.
CALLS = {
  "big_number" => "n = 3**#{DIGITS}; ready << 1; n.to_s",
  "search" => "s = 'a' * #{(60_000 * SCALE).to_i}; ready << 1; s.rindex(/a+b/)",
  "sort" => "r = Random.new(1); a = Array.new(#{(2_000_000 * SCALE).to_i}) { r.rand(1 << 40) }; ready << 1; a.sort",
  "compile" => "s = '9' * #{(300_000 * SCALE).to_i}; ready << 1; eval(s)",
}
Sender = ZAKURO ? RubyVM::Channel : Queue

def start(code, *args)
  return RubyVM.new("h", "-e", "ready, = RubyVM::ARGV\n#{code}").start(*args) if ZAKURO
  Thread.new(*args) { |ready| eval(code) }
end

# Sleeps until told that the others are done, or for two seconds.
NEIGHBOUR = <<'RUBY'
def gaps(stop)
  worst = 0.0
  first = last = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  while last - first < 2 && !stop.call
    sleep 0.001
    at = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    worst = [worst, at - last].max
    last = at
  end
  worst
end
RUBY
# Iterations of a loop in so many seconds.
COMPUTE = <<'RUBY'
def compute(seconds)
  n = 0
  last = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  n += 1 until n % 1000 == 999 && Process.clock_gettime(Process::CLOCK_MONOTONIC) > last
  n
end
RUBY
eval(NEIGHBOUR)
eval(COMPUTE)

def neighbour(stop, out)
  return RubyVM.new("n", "-e", NEIGHBOUR + "stop, out = RubyVM::ARGV; out << gaps(-> { stop.try_recv })").start(stop, out) if ZAKURO
  Thread.new { out << gaps(-> { !stop.empty? }) }
end

def hostile(count, code)
  ready = Sender.new
  all = Array.new(count) { start(code, ready) }
  [all, ready]
end

CALLS.each do |name, code|
  stop, out = Sender.new, Sender.new
  begun = now
  other = neighbour(stop, out)
  all, = hostile(CPUS, code)
  gap = out.pop
  [*all, other].each { |t| t.join rescue nil }
  puts format("hostile_%s_gap %.1f ms", name, gap * 1e3)
  puts format("hostile_%s_all %.1f s", name, now - begun)
end

# The share of polite ones that compute, among hostile ones: two of each, then eight hostile ones for each CPU.
alone = compute(0.5)
[1, 8].each do |per_cpu|
  all, = hostile(per_cpu * CPUS, CALLS["big_number"].sub("n.to_s", "loop { n.to_s }"))
  sleep 0.3
  stop, out = Sender.new, Sender.new
  other = neighbour(stop, out)
  mine = compute(0.5)
  stop << true
  puts format("hostile_%d_per_cpu_share %.3f x", per_cpu, mine.fdiv(alone))
  puts format("hostile_%d_per_cpu_gap %.1f ms", per_cpu, out.pop * 1e3)
  ZAKURO ? all.each { |vm| vm.kill(grace: 0) } : all.each(&:kill)
  [*all, other].each { |t| t.join rescue nil }
end
