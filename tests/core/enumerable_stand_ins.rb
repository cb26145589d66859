# Methods that Ruby has in Enumerable only: reflection says so, and a program's definition there, or of `each`, is what runs.
[[Array, %i[each_slice each_cons inject reduce group_by partition flat_map each_with_object each_with_index sort_by tally member? entries filter_map]],
 [Hash, %i[map flat_map group_by partition sort_by count find all? none? sum min_by]],
 [Range, %i[sum]]].each do |c, names|
  names.each { |n| print c.instance_method(n).owner, c.method_defined?(n, false), c.method_defined?(n), c.instance_methods(false).include?(n), " " }
  puts
end
p [].method(:each_slice).owner, {}.method(:map).owner, (1..2).method(:sum).owner, [].method(:inject).owner, [].method(:map).owner
p [3, 4].method(:inject).unbind.bind_call([1, 2], :+), {a: 1}.method(:map).call { |k, v| [k, v] }
p Array.instance_method(:inject) == Enumerable.instance_method(:inject), [1].method(:each_slice)
p Array.instance_methods.include?(:inject), [].public_methods(false).include?(:inject)
begin
  class Array; remove_method :inject; end
rescue NameError => e
  puts e.message
end
p [1, 2].inject(:+)

class Hash
  def count(*) = [:mine, super]
end
p({a: 1}.count)
class Hash; remove_method :count; end
p({a: 1}.count)

# A subclass with another each.
class Doubled < Array
  def each = super { |x| yield x * 2 }
end
p Doubled[1, 2].inject(:+), Doubled[1, 2].each_slice(1).to_a, Doubled[1, 2].map { _1 }, Doubled[1, 2].sort_by { -_1 }, Doubled[1, 2].sum
class Pairs < Hash
  def each = yield([:one, 1])
end
p Pairs.new.map { |k, v| [k, v] }, Pairs.new.group_by { |k, v| v }, Pairs.new.count

module Enumerable
  def each_slice(n) = :patched
  def group_by = :patched2
  def flat_map = :patched4
  def count(*) = :patched5
  def each_with_object(x) = :patched6
end
p [1, 2].each_slice(2), [1].group_by, {a: 1}.flat_map, {a: 1}.count, [1].count, [1].each_with_object(1), (1..2).each_slice(1)
p [].method(:each_slice).owner, [].method(:each_slice).source_location.class

# With a module, and a method that is defined in it later.
module Late; end
module Enumerable; prepend Late; end
module Late
  def partition = :late
end
p [1].partition, {a: 1}.partition
module More
  def tally = :more
end
def tally_of(a) = a.tally
p tally_of([1])
module Enumerable; include More; end
p tally_of([1])
class Array; include More; end
p tally_of([1])

module Enumerable
  undef_method :each_cons
  remove_method :each_entry
end
%i[each_cons each_entry].each do |n|
  [1].send(n, 1) { }
rescue NoMethodError => e
  puts e.message
end

class Array
  alias fold inject
  alias real_each each
  def each = (yield 99; self)
end
p [1, 2].fold(:+), [1, 2].inject(:+), [1, 2].map { _1 }, [1, 2].each_with_index.to_a, [1, 2].select { true }, [1, 2].sort_by { _1 }, [1, 2].sum, [1, 2].max
class Range
  def each = yield(7)
end
p (1..3).sum, (1..3).map { _1 }
