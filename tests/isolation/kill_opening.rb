# Receivers that are killed, run out of memory or raise while they open big messages with files and channels inside: descriptors, channels
# and memory come back, and the messages behind are there for others.
$stderr.reopen(File::NULL)
small = ENV["ZAKURO_TEST_SCALE"] == "small"
class Key
  def initialize(n) = @n = n
  attr_reader :n
  # Called in the receiver while a Hash is opened.
  def hash
    $told << :hash if $told && @n == 100
    @n % 97
  end
  def eql?(other) = @n == other.n
end
class Dumped
  def initialize(n) = @n = n
  def marshal_dump = [@n]
  def marshal_load(a)
    @n = a[0]
    $told << :load if $told && @n == 5
    sleep if $stay == @n
    raise "refused" if $refuse == @n
  end
end
class Text
  def initialize(n) = @n = n
  def _dump(_) = @n.to_s
  def self._load(s)
    $told << :text if $told && s == "3"
    sleep if $stay == "text" && s == "4"
    new(s.to_i)
  end
end
INNER = Array.new(20) { RubyVM::Channel.new }
FILES = Array.new(10) { File.open(__FILE__) }
big = lambda do |n|
  {
    files: FILES, channels: INNER, text: Array.new(8) { Text.new(_1) }, objects: Array.new(n) { [_1, "object #{_1}", { n: _1 }] },
    keys: Array.new(200) { [Key.new(_1), "k" * 500] }.to_h, loads: Array.new(8) { Dumped.new(_1) }, more: FILES, bytes: "b" * 200_000,
  }
end
receiver = proc do |ch, told, stay, refuse|
  $told, $stay, $refuse = told, stay, refuse
  n = 0
  loop do
    ch.recv
    told << (n += 1)
  rescue RuntimeError => e
    told << e.message
  end
end
rss = -> { File.read("/proc/self/status")[/VmRSS:\s*(\d+)/, 1].to_i }
fds = -> { Dir.children("/proc/self/fd").size }
counts = Hash.new(0)
round = lambda do |i|
  ch, told = RubyVM::Channel.new, RubyVM::Channel.new
  4.times { ch << big.(small ? 50 : 3000) }
  case i % 6
  # In the middle of a call that the opening makes: in marshal_load, in _load, just after the first `hash`.
  when 0, 1, 2
    stay, word = [[5, :load], ["text", :text], [nil, :hash]][i % 6]
    vm = RubyVM.fork(ch, told, stay, nil, &receiver)
    nil until told.recv == word
    vm.kill(grace: 0)
  # Anywhere.
  when 3
    vm = RubyVM.fork(ch, told, nil, nil, &receiver)
    sleep i % 17 * 0.0005
    vm.kill(grace: 0)
  # At a limit of memory.
  when 4
    vm = RubyVM.fork(ch, told, nil, nil, memory_limit: 400_000 + i % 23 * 50_000, &receiver)
    sleep 0.005
    vm.kill(grace: 0)
  # An exception: that message is lost, the others are not.
  else
    vm = RubyVM.fork(ch, told, nil, 6, &receiver)
    4.times { nil until told.recv == "refused" }
    vm.kill(grace: 0)
  end
  counts[vm.join && nil] += 1
rescue RubyVM::Error
  counts[vm.report[:kind]] += 1
  left = 0
  left += 1 while ch.try_recv
  counts[:left] += left
  # One at most was being opened, where it was told.
  puts "#{i}: #{left} left" if i % 6 < 2 && left != 3
end
(small ? 6 : 18).times(&round)
GC.start
before = [fds.call, rss.call]
(small ? 6 : 60).times(&round)
GC.start
sleep 0.3
after = [fds.call, rss.call]
p counts[:killed] > 0, small || counts[:aborted] > 0, counts[:left] > 0
p after[0] <= before[0] ? :flat : [before, after]
p after[1] - before[1] < 24_000 ? :flat : [before, after]
# Channels that traveled still work, and none of their copies holds them open or keeps anything.
p INNER.map(&:size).sum, FILES.map(&:closed?).uniq, RubyVM.list.size
