# Hash codes that a program sees are the VM's own, and the process's: nobody can choose keys that collide. Tables stay good wherever they travel.
KEYS = ["abc", :abc, 14, 2**70, 3.5, 1r, 1i, [1, 2], {a: 1}, 1..2, Object, nil]
codes = -> { KEYS.map(&:hash) }
mine = codes.call

# Another process.
other = IO.popen([RbConfig.ruby, "-e", "p [%q(abc), :abc, 14, 2**70, 3.5, 1r, 1i, [1, 2], {a: 1}, 1..2, Object, nil].map(&:hash)"], &:read)
p eval(other).zip(mine).count { |a, b| a == b } #=> 0
# Unless it is told.
same = 2.times.map { IO.popen([{"RUBY_HASH_SEED" => "42"}, RbConfig.ruby, "-e", "p %q(abc).hash"], &:read) }
p same[0] == same[1], same[0].to_i == "abc".hash #=> true, false

# Another VM.
answers = RubyVM::Channel.new
vm = RubyVM.new("stranger", "-e", "c = RubyVM::ARGV[0]; c << ['abc', :abc, 14, 2**70, 3.5, 1r, 1i, [1, 2], {a: 1}, 1..2, Object, nil].map(&:hash)")
vm.start(answers)
p answers.recv.zip(mine).count { |a, b| a == b } #=> 0

# A fork has objects that may have stored such numbers.
RubyVM.fork(answers) { |c| c << codes.call }
p answers.recv == mine #=> true

# Keys of every kind are found in a fork ...
class Point
  attr_reader :x
  def initialize(x) = @x = x
  def hash = [Point, @x].hash
  def eql?(other) = Point === other && x == other.x
end
Pair = Struct.new(:a, :b)
block = proc { 1 }
object = Object.new
table = {"s" => 1, :s => 2, 3 => 3, [1, "x"] => 4, Point.new(5) => 5, Pair.new(1, [2]) => 6, block => 7, :up.to_proc => 8, object => 9, object.method(:to_s) => 10,
         [object, block] => 11, String.instance_method(:size) => 12, {a: [1]} => 13, 1.method(:+).to_proc => 14, "text".method(:size) => 15}
RubyVM.fork(answers) do |c|
  inner = RubyVM::Channel.new
  RubyVM.fork(inner) { |i| i << table.count { |k, v| table[k] == v } }
  c << [table.count { |k, v| table[k] == v }, inner.recv, table["s".dup], table[[1, "x"]], table[Point.new(5)], table[Pair.new(1, [2])]]
end
p answers.recv #=> [15, 15, 1, 4, 5, 6]

# ... and those of a shared frozen table by a stranger.
shared = (0..500).to_h { |i| [[i, "k#{i}".freeze].freeze, i] }.freeze
reader = RubyVM.new("reader", "-e", <<~RUBY)
  c, h = RubyVM::ARGV[0].recv
  c << [h.all? { |k, v| h[[k[0], k[1].dup]] == v }, h[[77, "k77"]], h[[77, "k78"]]]
RUBY
requests = RubyVM::Channel.new
reader.start(requests)
requests << [answers, shared]
p answers.recv #=> [true, 77, nil]
p shared[[500, "k500"]] #=> 500
