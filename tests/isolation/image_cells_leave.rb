# Frozen data and classes of the image that a VM grew from are copied when they leave it: the image may go before those who got them.
class Kept
  attr_reader :list
  def initialize(list) = @list = list
end
NAME = "frozen name of some length, not inline at all".freeze
SMALL = "tiny".freeze
TREE = [1.5, ["a".freeze, { "k".freeze => [NAME, SMALL].freeze }.freeze].freeze].freeze
BIG = (1..200).map { |i| "number #{i}".freeze }.freeze
OBJECT = Kept.new(TREE).freeze
vm = RubyVM.fork do
  wide = (1..300).map { |i| [i, SMALL].freeze }.freeze
  [NAME, SMALL, TREE, BIG, OBJECT, Kept, Kept.instance_method(:list).name, wide, [SMALL, [NAME]]]
end
got = vm.value
vm = nil
# Each change drops the standing image; each fork makes another.
3.times do |i|
  Object.const_set("C#{i}", "x#{i}" * 50)
  RubyVM.fork { NAME.size }.value
end
junk = (1..2000).map { |i| "junk #{i}" * 3 }
GC.start
p junk.size
name, small, tree, big, object, kept, m, wide, mixed = got
p name, small, tree, big.size, big[-1], object.list, kept.equal?(Kept), object.instance_of?(Kept), m, wide.size, wide[-1], mixed
p [name, small, tree, big, object, wide].map(&:frozen?)
ch = RubyVM::Channel.new
RubyVM.fork(ch) { |c| c << { SMALL => BIG, list: TREE } << BIG }.join
Object.const_set(:LAST, 1)
RubyVM.fork { 1 }.value
a, b = ch.recv, ch.recv
GC.start
p a["tiny"].size, a[:list], b == BIG
