# What it costs to create and join isolated units: VMs under zakuro; processes (fork, spawn) and threads under CRuby.
# create_join.rb [COUNT [SPAWNED]] prints lines `name value unit`.

count = (ARGV[0] || 500).to_i
spawned = (ARGV[1] || count).to_i

def measure(name)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  puts "#{name} #{format('%.6f', Process.clock_gettime(Process::CLOCK_MONOTONIC) - start)} s"
end

if defined?(RubyVM::Channel)
  # One after the other, then all alive together.
  measure("vm_one_by_one_#{count}") do
    count.times do
      vm = RubyVM.new("ruby", "-e", "")
      vm.start
      vm.join
    end
  end
  measure("vm_together_#{count}") do
    vms = Array.new(count) { RubyVM.new("ruby", "-e", "") }
    vms.each(&:start)
    vms.each(&:join)
  end
else
  measure("fork_one_by_one_#{count}") { count.times { Process.wait(fork { exit!(0) }) } }
  measure("fork_together_#{count}") { Array.new(count) { fork { exit!(0) } }.each { |pid| Process.wait(pid) } }
  ruby = File.readlink("/proc/self/exe")
  measure("spawn_one_by_one_#{spawned}") { spawned.times { Process.wait(spawn(ruby, "--disable-gems", "-e", "")) } }
end
measure("thread_one_by_one_#{count}") { count.times { Thread.new {}.join } } if defined?(Thread)
