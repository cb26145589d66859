# Classes are collected in VMs that fork, are spawned from images, and send classes and objects.
SMALL = ENV["ZAKURO_TEST_SCALE"] == "small"
N = SMALL ? 20 : 200
def clean = 3.times { GC.start }
def litter = Array.new(N) { |i| Class.new { define_method(:who) { i } }.new.then { |o| def o.single = who; o } }
def sound?(list) = list.each_with_index.all? { |o, i| o.who == i && o.single == i }

# What an image has stays what it is.
kept = Class.new { def who = :kept; def self.name = "Kept" }
object = kept.new
def object.single = :single
$kept = [kept, object]
image = RubyVM::Image.capture
$kept = kept = object = nil
clean
fresh = litter
p sound?(fresh)
3.times do
  vm = image.spawn do
    mine = litter
    clean
    mine.size.times { litter } if SMALL
    clean
    [$kept[0].new.who, $kept[1].who, $kept[1].single, sound?(mine), sound?(litter)]
  end
  p vm.value
  litter
  clean
end

# Classes that an image has come back from its VMs.
there = RubyVM::Channel.new
back = RubyVM::Channel.new
$late = Class.new { def initialize(v) = @v = v; attr_reader :v }
vm = RubyVM.fork(there, back) do |a, b|
  a.recv
  clean
  b << $late.new(5) << $late
  :sent
end
$late = nil
litter
clean
more = litter
there << 1
got, its = back.recv, back.recv
p got.v, got.class == its, its.new(6).v, vm.value, sound?(more)

# A class made after the capture goes along with the block's argument.
c = Class.new { def who = :argument }
d = Class.new(c) { def who = [super, :below] }
p RubyVM.fork(d.new) { |o| litter; clean; [o.who, o.class.superclass.new.who] }.value
c = d = nil
clean
p sound?(litter)

# Frozen graphs are shared: no collection looks at their objects.
class Point
  def initialize(x) = @x = x
  attr_reader :x
end
graph = Ractor.make_shareable(Array.new(100) { |i| Point.new("point #{i}") })
channel = RubyVM::Channel.new
reader = RubyVM.fork(channel) do |ch|
  g = ch.recv
  4.times { litter; clean }
  [g.map(&:x).last, g[0].class, sound?(litter)]
end
channel << graph
p reader.value
2.times { litter; clean }
p graph.sum { |q| q.x.size }, graph[3].class

# A Ractor's block runs in a VM of its own.
p Ractor.new { a = litter; clean; [sound?(a), sound?(litter)] }.value

# Under a limit that all the classes together would pass many times.
vm = RubyVM.fork(memory_limit: 24 << 20) do
  (N * 250).times { |i| o = Class.new { attr_accessor :a; def who = 1; X = 1 if false }.new; def o.single = 2; o.a = o.single }
  :done
end
p vm.value
