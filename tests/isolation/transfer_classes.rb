# Objects of classes that the receiver lacks, or has in another kind: ArgumentError there, and the channel goes on.
ch = RubyVM::Channel.new
back = RubyVM::Channel.new
vm = RubyVM.new("ruby", "-e", <<~'RUBY')
  Point = Struct.new(:x, :z)
  Words = Class.new(Array)
  module Kind; end
  NotOne = 1
  class Same; attr_accessor :b, :a; end
  ch, back = RubyVM::ARGV
  loop do
    m = ch.recv
    back << [:got, m.class.name, m.respond_to?(:a) ? [m.a, m.b] : m.class]
    break if m == :end
  rescue => e
    back << [e.class, e.message]
  end
RUBY
Point = Struct.new(:x, :y)
class Words; attr_accessor :w; end
class Kind; end
class NotOne; end
module Far; class Away; end; end
class Same; attr_accessor :a, :b; end
class Dumped
  def marshal_dump = 1
  def marshal_load(_) = nil
end
same = Same.new
same.a = 1
same.b = 2
vm.start(ch, back)
[Point.new(1, 2), [Words.new], { k: Kind.new }, NotOne.new, Far::Away.new, Far, [Far::Away], Dumped.new, -> { Far }, proc { self }, same, :end].each { |x| ch << x }
12.times { p back.recv }
vm.join
