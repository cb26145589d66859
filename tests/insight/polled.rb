# Figures that other VMs poll do not fall, whatever the VM does meanwhile (docs/insight.md).
EXE = File.readlink("/proc/self/exe")

PROGRAM = <<'RUBY'
there, back = RubyVM::Channel.new(name: "there"), RubyVM::Channel.new(name: "back")
r, w = IO.pipe
# Short turns and waits of several kinds, calls that keep the native thread, collections.
worker = RubyVM.fork(there, back, r, name: "worker") do |there, back, r|
  there.each do |n|
    back << n
    case n % 50
    when 0 then sleep 0.001
    when 10 then 20_000.times.sum
    when 20 then File.read("/proc/self/status")
    when 30 then GC.start
    when 40 then Thread.new { sleep 0.0005 }.join
    end
  end
end
poller = RubyVM.fork(worker, there, back, name: "poller") do |worker, there, back|
  fallen = Hash.new(0)
  numbers = ->(s) { s.merge(s[:waits] || {}).select { |k, v| Integer === v && !%i[channel size queued_bytes waiting].include?(k) } }
  last = {}
  polls = 0
  until there.closed?
    polls += 1
    { worker:, there:, back: }.each do |name, what|
      now = numbers[what.stat]
      (last[name] || {}).each { |k, v| fallen[[name, k]] += 1 if (now[k] || 0) < v }
      last[name] = now
    end
  end
  [polls, fallen]
end
by = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 2
n = 0
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < by
  there << (n += 1)
  back.recv
end
there.close
polls, fallen = poller.value
p polls > 100, n > 100, fallen
s = worker.join.stat
# What was told too early would be too much in the end.
sum = %i[run collect pack open image compile load ready wait].sum { |k| s[k] }
p (sum - s[:life]).abs < s[:life] / 100 + 2_000_000
RUBY

pid = spawn({ "RUBY_MAX_CPU" => "2" }, EXE, "-W0", "--account", "-e", PROGRAM)
Process.wait(pid)
p $?.success?
