# Without --gc=stress. What a limited VM and those that it makes let go of counts as long as it is there, and is there no longer than the collector says: code of evals,
# buffers that VMs exchange and are killed with, what the maker of a VM holds when the new one needs memory.
$stdout.sync = true

def resident = File.read("/proc/self/statm").split[1].to_i * 4096 / 1_000_000

# How many MB the process grows by while the program runs.
def growth(program, limit, wall)
  before = peak = resident
  vm = RubyVM.new("churn", "-e", program, memory_limit: limit * 1_000_000, wall_limit: wall, grace: 0).start
  while vm.alive?
    peak = [peak, resident].max
    sleep 0.003
  end
  begin
    vm.join
  rescue RubyVM::LimitError, RubyVM::Error => e
    puts e.message unless e.message.include?("wall-clock")
  end
  peak - before
end

if ARGV[0]
  puts growth(ARGV[0], ARGV[1].to_i, ARGV[2].to_i)
  exit
end

# Each in a process of its own, which has nothing yet that could be used again.
def bounded(program, limit, wall, most)
  mb = IO.popen([File.readlink("/proc/self/exe"), __FILE__, program, limit.to_s, wall.to_s], &:read).to_i
  puts mb < most ? "within bounds" : "grew by #{mb} MB, which is more than #{most}"
end

EXCHANGE = <<~'R'
  15.times do
    channels = Array.new(4) { RubyVM::Channel.new(4) }
    vms = 4.times.map do |j|
      RubyVM.fork(channels, j) do |channels, j|
        big = "s" * (20_000 + rand(500_000))
        list = (0..rand(3000..40_000)).to_a
        loop do
          x = channels[j].recv(timeout: 0.01)
          y = case rand(6)
              when 0 then big
              when 1 then big[rand(1000), 15_000 + rand(20_000)]
              when 2 then x
              when 3 then [list, big, list[1..]]
              when 4 then big.dup << "q"
              else x.is_a?(String) ? x.byteslice(0, x.size * 3 / 4) : list
              end
          channels[(j + 1) % 4].send(y, timeout: 0.01)
          big = "s" * (20_000 + rand(500_000)) if rand(9) == 0
        end
      end
    end
    sleep 0.1
    vms.each { |vm| vm.kill(grace: 0) }
    vms.each { |vm| vm.join rescue RubyVM::Error }
  end
  hoard = []
  begin
    loop { hoard << "h" * 100_000 }
  rescue NoMemoryError
    hoard = nil
  end
R
puts "-- buffers that go round among VMs which are killed, under 64 MB"
bounded EXCHANGE, 64, 20, 110

EVALS = <<~'R'
  ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 3
  i = 0
  begin
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends
      eval("->{" + (0..300).map { |x| "f(\"str#{x + i}\")" }.join(";") + "}")
      i += 1
    end
  rescue NoMemoryError
    retry
  end
R
puts "-- evals, each another one, whose results nobody keeps: 6 and 20 VMs under 32 MB"
[6, 20].each do |n|
  bounded "#{n}.times.map { RubyVM.new('k', '-e', #{EVALS.dump}).start }.each { |k| k.join rescue RubyVM::Error }", 32, 30, 85
end

puts "-- a VM whose maker holds nothing but garbage"
FORK = <<~'R'
  def fill
    hoard = []
    loop { hoard << "h" * 100_000 }
  rescue NoMemoryError
    nil
  end
  def deep(n) = n == 0 ? fill : deep(n - 1)
  deep(50)
  puts RubyVM.fork { ("x" * 2_000_000).size }.value
  deep(50)
  puts RubyVM.new("new", "-e", "puts (%q(x) * 2_000_000).size").start.join.status
R
growth(FORK, 40, 20)
