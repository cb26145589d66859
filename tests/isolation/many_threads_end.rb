# The end of a VM takes a time that grows with its threads, not with their square; whoever waits for a killed one learns of its end at once.
small = ENV["ZAKURO_TEST_SCALE"] == "small"
n = small ? 300 : 8_000
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
ends = {
  "killed at once" => [->(_) { sleep }, ->(vm, _) { vm.kill(grace: 0) }],
  "killed" => [->(_) { sleep }, ->(vm, _) { vm.kill }],
  "over" => [->(go) { go.recv }, ->(_, go) { go << 1 }],
  "exit!" => [->(go) { go.recv; exit!(3) }, ->(_, go) { go << 1 }],
  "one by one" => [->(go) { go.recv; Thread.list.each { |t| t.kill unless t.main? }.each { |t| t.join unless t.main? }.clear }, ->(_, go) { go << 1 }],
}
ends.each do |name, (job, stop)|
  begun, go = RubyVM::Channel.new, RubyVM::Channel.new
  vm = RubyVM.fork(begun, go, n, job, name: name) do |begun, go, n, job|
    m, q = Mutex.new.lock, Queue.new
    n.times { |i| Thread.new { [-> { sleep }, -> { q.pop }, -> { m.lock }][i % 3].call } }
    Thread.pass
    begun << 1
    job.call(go)
  end
  begun.recv
  from = now.call
  stop.call(vm, go)
  vm.join rescue 0
  took = now.call - from
  p [name, vm.report[:kind], vm.status]
  # The first is a matter of milliseconds.
  puts "#{name}: #{took} s" if took > (name == "killed at once" ? 1 : 10)
end
# Their stacks are given back behind: a VM that is made now has them.
p RubyVM.fork(n / 10) { |n| n.times.map { Thread.new { 1 } }.sum(&:value) }.value == n / 10
