# A region is used in place where the receiver has the classes, by number or by name; else the receiver copies it, or says which class it lacks.
def deep(x) = Ractor.make_shareable(x)
class Pt
  attr_reader :u, :v
  def initialize(u, v) = (@u, @v = u, v)
  def sum = u + v.size
end
Key = Struct.new(:n)
POINTS = deep((0..200).map { |i| Pt.new(i, "v#{i}") })
KEYED = deep((0..200).to_h { |i| [Key.new(i), "#{i}"] })
there = RubyVM::Channel.new
back = RubyVM::Channel.new

puts "-- one lineage"
p RubyVM.fork(POINTS, KEYED) { |o, k| [o[5].sum, k[Key.new(7)], o.frozen?, o[3].class.equal?(Pt)] }.value
there << POINTS
GOT = there.recv
$got = [GOT[3], GOT]
p RubyVM.fork { GC.start; [GOT[5].sum, $got[0].u, $got[1].equal?(GOT)] }.value
image = RubyVM::Image.capture
$got = nil
GC.start
p image.spawn { GC.start; [$got[0].v, GOT.size] }.value
anonymous = Class.new { attr_reader :a; def initialize(a) = @a = a }
p RubyVM.fork(anonymous) { |c| deep((0..200).map { |i| c.new(i.to_s) }) }.value[9].a

puts "-- strangers"
vm = RubyVM.new("stranger", "-e", <<~'RUBY').start(there, back)
  there, back = RubyVM::ARGV
  answer = -> { back << begin; yield_ = there.recv; [yield_[7].sum, yield_.frozen?, yield_[7].instance_variables]; rescue => e; "#{e.class}: #{e.message}"; end }
  answer.()
  class Pt; def sum = [:first, @u]; end
  answer.()
  Object.send(:remove_const, :Pt)
  class Pt; def sum = [:second, @v]; end
  answer.()
  answer.()
  Object.send(:remove_const, :Pt)
  class Pt < String; end
  answer.()
  Object.send(:remove_const, :Pt)
  Pt = 3
  answer.()
  Object.send(:remove_const, :Pt)
  module Pt; end
  answer.()
  Key = Struct.new(:n)
  k = there.recv
  back << [k[Key.new(7)], k.size, k.frozen?, k.keys[3]]
  back << there.recv
RUBY
7.times { there << POINTS; p back.recv }
there << KEYED
p back.recv
there << "still there"
p back.recv
vm.join

puts "-- back to where it came from"
vm = RubyVM.new("mirror", "-e", "class Pt; end; there, back = RubyVM::ARGV; 2.times { back << there.recv }").start(there, back)
there << POINTS
a = back.recv
there << a
b = back.recv
p a.equal?(b), a[3].class.equal?(Pt), b[3].sum
vm.join
there << POINTS
nobody = RubyVM.new("nobody", "-e", "p((RubyVM::ARGV[0].recv rescue $!.message))").start(there)
nobody.join
