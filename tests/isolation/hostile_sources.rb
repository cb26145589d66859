# Without --gc=stress. Sources that take much to compile, evaluated under limits: the VM ends in time or gets an error, and a neighbour goes on meanwhile.
LIMIT = 48 << 20

def outcome(source, **limits)
  vm = RubyVM.fork(source, **limits) do |text|
    eval(text)
    :ok
  rescue NoMemoryError
    :memory
  rescue SyntaxError
    :syntax
  end
  vm.value
rescue RubyVM::Error => e
  e.message[/memory limit|limit of/] || e.message
end

BOMBS = {
  "parentheses" => "(" * 1_000_000,
  "brackets" => "[" * 1_000_000,
  "braces" => "x={" * 300_000,
  "elements" => "[" + "a," * 500_000 + "]",
  "calls" => "a;" * 500_000,
  "bangs" => "!" * 50_000 + "1",
  "ensure" => 2000.times.inject("1") { |s, _| "begin; 1; ensure; #{s}; end" },
  "digits" => "9" * 200_000,
  "super" => "def m(#{(0..200).map { |i| "a#{i}" }.join(",")}); #{"super;" * 60_000} end",
}
BOMBS.each do |name, source|
  ends = outcome(source, memory_limit: LIMIT, wall_limit: 60, grace: 0)
  puts "#{name}: #{%i[ok memory syntax].include?(ends) || ends}"
end
p [outcome("[" + "a," * 500_000 + "]", memory_limit: LIMIT), outcome("[" + "a," * 500 + "].size rescue 1", memory_limit: LIMIT)]
# It is the memory of the process, not only what is counted.
peak = File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1].to_i
p peak < 700_000 || peak

# Killed, or over its time, while it compiles: at once, though the parser would need seconds.
LONG = "!" * 3_000_000 + "1"
neighbour = RubyVM.fork(stop = RubyVM::Channel.new) do |channel|
  n = 0
  n += 1 while channel.try_recv.nil? && sleep(0.001)
  n
end
def timed
  t = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - t
end
took = timed { p outcome(LONG, wall_limit: 0.2, grace: 0) }
p took < 5 || took
took = timed { p outcome(LONG, cpu_limit: 0.2, grace: 0) }
p took < 10 || took
vm = RubyVM.fork(LONG) { |text| eval(text) }
sleep 0.1
took = timed { vm.kill(grace: 0); vm.join rescue p $!.message[/killed/] }
p took < 5 || took
stop << true
p neighbour.value > 10
