# forks.rb [COUNT]: the process is forked COUNT times beside six VMs that allocate, compile, intern, start threads and send, and each child counts on, allocates, starts
# a thread and a VM, and ends. Prints how long the forks took and what went wrong; status 1 when something did.
COUNT = (ARGV[0] || 200).to_i

WORK = {
  "allocates" => -> { loop { Array.new(1000) { "a" * 50 } } },
  "compiles" => ->(i = 0) { loop { eval "def m#{(i += 1) % 100}(a) = [a, #{i}].map { |x| x + 1 }" } },
  "interns" => ->(i = 0) { loop { "name_#{(i += 1) % 50_000}".to_sym } },
  "starts threads" => -> { loop { 8.times.map { Thread.new { Thread.pass } }.each(&:join) } },
  "sends" => -> { c = RubyVM::Channel.new(16); Thread.new { loop { c << "x" * 200_000 } }; loop { c.recv } },
  "starts VMs" => -> { loop { RubyVM.fork { 1 + 1 }.join } },
}
progress = RubyVM::Channel.new
vms = WORK.map { |name, work| RubyVM.fork(progress, name) { |progress, name| progress << name; WORK[name].call } }
WORK.size.times { progress.recv }

times = []
wrong = []
COUNT.times do |i|
  begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  pid = fork do
    sum = (1..1000).sum { "x#{_1}".to_sym.to_s.size }
    answer = Thread.new { RubyVM.fork(sum) { |s| Array.new(100) { s }.sum }.value }.value
    exit!(answer == sum * 100 && RubyVM.list.size == 1 ? 7 : 8)
  end
  times << Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
  status = Process.wait2(pid)[1]
  wrong << "fork #{i}: #{status}" unless status.exitstatus == 7
rescue SystemCallError => e
  wrong << "fork #{i}: #{e.message}"
end
vms.each { |vm| wrong << "the VM that #{vm.name} ended" unless vm.alive? }
vms.each { _1.kill(grace: 0) }
puts wrong
times.sort!
puts format("%d forks beside %d VMs: %d wrong; %.1f ms at the median, %.1f at the longest", times.size, vms.size, wrong.size, times[times.size / 2] * 1e3, times[-1] * 1e3)
exit wrong.empty?
