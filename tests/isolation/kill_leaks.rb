# Killed VMs give back memory and descriptors: many rounds leave the process as a few have left it.
small = ENV["ZAKURO_TEST_SCALE"] == "small"
jobs = [
  -> { loop {} }, -> { sleep }, -> { r, w = IO.pipe; r.read }, -> { Thread.new { loop {} }; sleep }, -> { Fiber.new { sleep }.resume },
  -> { begin; sleep; ensure; sleep; end }, -> { RubyVM::Channel.new.recv }, -> { a = []; loop { a << "x" * 10_000; sleep 0.001 } },
  -> { File.open("/dev/null") { sleep } }, -> { 5.times { Thread.new { sleep } }; sleep },
]
round = -> do
  vms = jobs.map { |j| RubyVM.fork(j) { |j| j.call } }
  sleep 0.002
  vms.each { |v| v.kill(grace: 0.001) }
  vms.count { |v| v.join(60) rescue false }
end
rss = -> { File.read("/proc/self/status")[/VmRSS:\s*(\d+)/, 1].to_i }
fds = -> { Dir.children("/proc/self/fd").size }
warm = small ? 2 : 20
p warm.times.sum { round.call }
before = [rss.call, fds.call]
p (small ? 3 : 80).times.sum { round.call }
sleep 0.1
after = [rss.call, fds.call]
# Memory in kB: reserves of the process may differ, an object per VM may not.
p after[0] - before[0] < 24_000 ? :flat : [before, after]
p after[1] <= before[1] ? :flat : [before, after]
p RubyVM.list.size
