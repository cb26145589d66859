# Round trips of one value: between two VMs over two channels under zakuro, between two processes over two pipes
# with Marshal under CRuby.
# ping_pong.rb [ROUNDS [ROUNDS_OF_1MB]] prints lines `name value unit`, microseconds for one round trip.

rounds = (ARGV[0] || 10_000).to_i
large_rounds = (ARGV[1] || rounds).to_i

CASES = [
  ["1", 1], ["1.1", 1.1], ["2**100", 2**100], ["Object.new", Object.new],
  ["10_B_String", "x" * 10], ["1_MB_String", "x" * 1_048_576]
]

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def report(name, rounds, seconds)
  puts "#{name} #{format('%.3f', seconds * 1e6 / rounds)} us"
end

if defined?(RubyVM::Channel)
  CASES.each do |name, value|
    n = name.start_with?("1_MB") ? large_rounds : rounds
    there = RubyVM::Channel.new
    back = RubyVM::Channel.new
    vm = RubyVM.new("ruby", "-e", "there, back, n = RubyVM::ARGV\nn.times { back << there.recv }")
    vm.start(there, back, n + 1)
    there << value
    back.recv
    start = now
    i = 0
    while i < n
      there << value
      back.recv
      i += 1
    end
    report("channel_#{name}", n, now - start)
    vm.join
  end
else
  CASES.each do |name, value|
    n = name.start_with?("1_MB") ? large_rounds : rounds
    there_r, there_w = IO.pipe(binmode: true)
    back_r, back_w = IO.pipe(binmode: true)
    pid = fork do
      (n + 1).times { Marshal.dump(Marshal.load(there_r), back_w) }
      exit!(0)
    end
    Marshal.dump(value, there_w)
    Marshal.load(back_r)
    start = now
    i = 0
    while i < n
      Marshal.dump(value, there_w)
      Marshal.load(back_r)
      i += 1
    end
    report("pipe_#{name}", n, now - start)
    Process.wait(pid)
    [there_r, there_w, back_r, back_w].each(&:close)
  end
end
