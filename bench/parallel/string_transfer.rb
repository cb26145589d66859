# Sending one String of 1 B to 64 MB to another VM (zakuro) or process (CRuby, pipe with Marshal), answered by its size.
# string_transfer.rb [LARGEST_BYTES] prints lines `name value unit`, microseconds for a send with its answer (median).

largest = (ARGV[0] || 64 * 1_048_576).to_i

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def median(list)
  list.sort[list.size / 2]
end

sizes = []
size = 1
while size <= largest
  sizes << size
  size *= 4
end

def rounds_for(size)
  size <= 65_536 ? 400 : 40
end

def measure(sizes, prefix)
  sizes.each do |size|
    value = "x" * size
    times = Array.new(rounds_for(size)) do
      start = now
      answer = yield value
      took = now - start
      raise "lost bytes: #{answer} of #{size}" unless answer == size
      took
    end
    puts "#{prefix}_#{size}_B #{format('%.3f', median(times) * 1e6)} us"
  end
end

total = sizes.sum { |s| rounds_for(s) }
if defined?(RubyVM::Channel)
  there = RubyVM::Channel.new
  back = RubyVM::Channel.new
  vm = RubyVM.new("ruby", "-e", "there, back, n = RubyVM::ARGV\nn.times { back << there.recv.bytesize }")
  vm.start(there, back, total)
  measure(sizes, "channel") do |value|
    there << value
    back.recv
  end
  # The receiver may write to what it got; the sender's string must not change, and the other way round.
  writer = RubyVM.new("ruby", "-e", "there, back = RubyVM::ARGV\ns = there.recv\ns.setbyte(0, 65)\nback << s")
  writer.start(there, back)
  value = "x" * 1_048_576
  there << value
  value.setbyte(1, 66)
  got = back.recv
  raise "shared bytes leaked" unless got[0, 2] == "Ax" && value[0, 2] == "xB"
  writer.join
  vm.join
else
  there_r, there_w = IO.pipe(binmode: true)
  back_r, back_w = IO.pipe(binmode: true)
  pid = fork do
    total.times { Marshal.dump(Marshal.load(there_r).bytesize, back_w) }
    exit!(0)
  end
  measure(sizes, "pipe") do |value|
    Marshal.dump(value, there_w)
    Marshal.load(back_r)
  end
  Process.wait(pid)
end
