# Messages between VMs that never met: classes travel by name.
there = RubyVM::Channel.new
back = RubyVM::Channel.new
vm = RubyVM.new("ruby", "-e", <<~'RUBY')
  there, back = RubyVM::ARGV
  class Point
    attr_accessor :x, :y
    def sum = x + y
  end
  Pair = Struct.new(:l, :r)
  pt = there.recv
  back << [pt.class.name, pt.sum, pt.respond_to?(:only_in_master)]
  pt.x = 50
  back << pt
  back << Pair.new(1, "two")
  begin
    there.recv
    back << :received
  rescue ArgumentError, NameError, TypeError => e
    back << [:refused, e.message.include?("OnlyInMaster")]
  end
RUBY
class Point
  attr_accessor :x, :y
  def initialize(x, y) = (@x, @y = x, y)
  def only_in_master = true
end
Pair = Struct.new(:l, :r)
class OnlyInMaster; end
vm.start(there, back)
pt = Point.new(3, 4)
there << pt
p back.recv
got = back.recv
p got.class, got.x, got.y, pt.x, got.only_in_master
p back.recv
there << OnlyInMaster.new
p back.recv
vm.join
