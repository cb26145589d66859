# Builtins that walk by `each` of an Enumerator or a Generator hand the block on: one frame each, however often they enter Ruby code.
def frames
  yield
rescue => e
  e.backtrace.map { |line| line[/in '(.*)'/, 1] }.take_while { |name| name != "Object#frames" }
end
letters = "ab".each_char
numbers = Enumerator.new { |y| y << 1; y << 2 }
class Own
  include Enumerable
  def each
    yield 1
    yield 2
  end
end
%i[map select reject find sort_by max_by count partition group_by flat_map each_entry any? none? reduce filter_map uniq take_while each_slice each_cons each_with_object].each do |name|
  args = { each_slice: [1], each_cons: [1], each_with_object: [0], reduce: [0] }[name] || []
  [letters, numbers, Own.new].each do |walked|
    next if name == :each_with_object && Enumerator === walked
    p [name, walked.class, frames { walked.send(name, *args) { raise "x" } }]
  end
end
p frames { "ab".gsub(/a/) { raise "x" } }, frames { 3.upto(5).map { raise "x" } }, frames { [1].each_slice(1).map { raise "x" } }, frames { [[1]].each { |a| a.each { raise "x" } } }
