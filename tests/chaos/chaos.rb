# Chaos: about 200 VMs that are killed, raise, exit, hit limits and close channels at random, while counted messages go through them.
#
#   zakuro tests/chaos/chaos.rb SECONDS [SEED]   (standard error: what the VMs died of)
#
# Producers number their messages and report, on a channel of their own, each number whose `<<` has come back. So for every producer: what came
# back was delivered exactly once; at most one more (sent, but killed before it could say so) may have been; in order.
# At the end the process must be as it was: no VM, descriptors and memory flat. Exit status 0 means that all of this held.
seconds = Float(ARGV[0] || 10)
seed = Integer(ARGV[1] || 1)
random = Random.new(seed)
$stderr.reopen(File::NULL, "w")

rss = -> { File.read("/proc/self/status")[/VmRSS:\s*(\d+)/, 1].to_i }
fds = -> { Dir.children("/proc/self/fd").size }
bad = []

producer = proc do |id, out, log, how|
  n = 0
  begin
    while true
      out << [id, n, "x" * (n % 300)]
      log << n
      n += 1
      case how
      when 0 then raise "chaos" if n == 50
      when 1 then exit(3) if n == 50
      when 2 then exit!(4) if n == 50
      when 3 then abort if n == 50
      when 4 then Thread.new { 5.times { Thread.pass } }.join
      when 5 then (1..100).map { |i| i.to_s * 10 }
      when 6 then Fiber.new { Fiber.yield n }.resume
      when 7 then sleep 0.001
      when 8 then r, w = IO.pipe; w << "x"; r.readpartial(1); r.close; w.close
      end
    end
  ensure
    sleep 0.002 if how == 9
    loop {} if how == 10
  end
end

victims = [
  -> { loop {} }, -> { sleep }, -> { Thread.new { loop {} }; sleep }, -> { r, w = IO.pipe; r.read }, -> { def deep(n) = deep(n + 1); deep(0) },
  -> { a = []; loop { a << "x" * 1000 } }, -> { eval("class Chaos#{rand(10)}; def m = 1; end; Chaos0 rescue 0") }, -> { "x" * 10**13 },
  -> { RubyVM.fork(wall_limit: 0.02) { sleep } }, -> { RubyVM::Channel.new.recv }, -> { loop { begin; loop {}; rescue Exception; end } },
  -> { Fiber.new { sleep }.resume }, -> { exit! }, -> { Process.wait(spawn("exit 3")) },
]

out = RubyVM::Channel.new(64)
logs = {}
next_expected = Hash.new(0)
received = 0
ended = 0
live = {}
closed = []
started = 0
take = lambda do |message|
  id, n, text = message
  received += 1
  bad << "VM #{id}: #{n} instead of #{next_expected[id]}" if n != next_expected[id]
  bad << "VM #{id}: content of #{n}" if text.size != n % 300
  next_expected[id] = n + 1
end
settle = lambda do |id, vm|
  # It has ended, and all it sent has been taken before: what its log says was delivered.
  sent = 0
  while (n = logs[id].try_recv)
    bad << "VM #{id}: log #{n} instead of #{sent}" if n != sent
    sent += 1
  end
  got = next_expected.delete(id) || 0
  bad << "VM #{id}: #{sent} sent, #{got} delivered" unless got == sent || got == sent + 1
  logs.delete(id)
  ended += 1
end
limits = [{}, {}, { memory_limit: 8_000_000 }, { cpu_limit: 0.05, grace: 0.01 }, { wall_limit: 0.2, grace: 0.01 }]

wave = lambda do |stop_at|
  until Process.clock_gettime(Process::CLOCK_MONOTONIC) >= stop_at && live.empty?
    stopping = Process.clock_gettime(Process::CLOCK_MONOTONIC) >= stop_at
    while live.size < 200 && !stopping
      started += 1
      options = limits[random.rand(limits.size)]
      if random.rand(5) == 0
        job = victims[random.rand(victims.size)]
        options = limits[2 + random.rand(3)] if random.rand(2) == 0
        live[started] = RubyVM.fork(job, **options) { |j| j.call }
        # Some wait on channels that are closed under them.
        closed << RubyVM::Channel.new(1)
        RubyVM.fork(closed[-1], wall_limit: 5) { |c| 2.times { c << 1 } } if random.rand(4) == 0
        closed.shift.close if closed.size > 5
      else
        logs[started] = RubyVM::Channel.new
        live[started] = RubyVM.fork(started, out, logs[started], random.rand(14), **options, &producer)
      end
    end
    40.times do
      message = out.recv(timeout: 0.001) or break
      take.call(message)
    end
    victims_now = stopping ? live.values : live.values.sample(random.rand(40), random: random)
    victims_now.each do |vm|
      vm.kill(grace: [0, 0.001, 0.01][random.rand(3)])
    end
    over = live.reject { |_, vm| vm.alive? }
    next if over.empty?
    # Everything that they sent is in the channel by now.
    while (message = out.try_recv)
      take.call(message)
    end
    over.each do |id, vm|
      live.delete(id)
      bad << "VM #{id}: no report" unless vm.report
      settle.call(id, vm) if logs[id]
    end
  end
end

now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
wave.call(now.call + seconds / 3)
closed.each(&:close).clear
GC.start
sleep 0.5
before = [fds.call, rss.call]
wave.call(now.call + seconds * 2 / 3)
closed.each(&:close).clear
20.times do
  break if RubyVM.list.size == 1
  sleep 0.5
end
GC.start
# malloc gives back what has been free for a second, when a worker of its own asks: a VM that hoarded until the end shows for longer on a slow machine.
after = nil
20.times do
  sleep 0.5
  after = [fds.call, rss.call]
  break if after[1] <= before[1] * 1.5 + 30_000
end
bad << "VMs left: #{RubyVM.list.inspect}" if RubyVM.list.size != 1
bad << "descriptors: #{before[0]} before, #{after[0]} after" if after[0] > before[0]
bad << "memory: #{before[1]} kB before, #{after[1]} kB after" if after[1] > before[1] * 1.5 + 30_000
puts "#{started} VMs, #{ended} producers, #{received} messages, #{before[1]} kB before, #{after[1]} kB after, #{after[0]} descriptors, seed #{seed}"
puts bad.first(20)
exit!(bad.empty? ? 0 : 1)
