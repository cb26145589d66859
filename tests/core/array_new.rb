# Array.new and what its subclasses and its reopened initialize make of it.
class Own < Array
  def initialize(*) = super
end
p Own.new(3), Own.new(2) { _1 }, Array.method(:new).owner, Array.new, Array.new(2, 1), Array.new([1])
a = [1, 2, 3] * 40
a.send(:initialize, 3, 9)
p a
b = a.dup
b.send(:initialize, 40, 1)
p a, b.sum
p((Array.singleton_class.new rescue $!))
p((Array.new(-1) rescue $!), (Array.new(1 << 70) rescue $!), (Array.new("a") rescue $!), (Array.new(1, 2, 3) rescue $!))
begin
  Array.new(2) { raise "in the block" }
rescue => e
  puts e.backtrace.map { |line| line[/\d+:in .*/] }
end

class Array
  alias old_initialize initialize
  def initialize(*a)
    old_initialize(*a)
    push :own
  end
end
p Array.new, Array.new(1)
