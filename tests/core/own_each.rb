# An `each` or `each_entry` of the program's own is what others walk: Sets that are made of it, Range#to_a, Array#sort_by!.
class Counted < Hash
  def each
    yield [:own, 1]
    yield [:other, 2]
    self
  end
end
hash = Counted.new
hash[1] = 2
p hash.to_set, Set.new(hash), Set.new(hash) { |x| x.class }
class Few < Set
  def each
    yield :s
    self
  end
end
set = Few[1, 2]
p set.to_set, Set.new(set), Set.new(set) { |x| [x] }, Set[9].merge(set), Set[1] | set
class Several
  def each
    yield 1, 2
    yield 3
    yield
  end
end
p Set.new(Several.new), Set[0].merge(Several.new), Set[1, nil] & Several.new, Set[1, nil] - Several.new, (Set[1].disjoint?(Several.new) rescue $!.message)
class Packed < Several
  include Enumerable
end
p Set.new(Packed.new), Set.new(Packed.new) { |*a| a }, Packed.new.to_set, Set[[1, 2]] ^ Packed.new
class Entries
  include Enumerable
  def each_entry = yield(:entry, 2)
end
p Set.new(Entries.new)
[3, Object.new, nil, "text"].each do |one|
  p Set.new(one).size
rescue => e
  puts "#{e.class}: #{e.message}"
end
# What was yielded before an error is there.
kept = Set[0]
begin
  kept.merge(Enumerator.new { |y| y << 1 << 2; raise "no more" })
rescue => e
  p e.message, kept
end
p (Set.new([1, 2, 3].each) { |x| break x }), Set.new(1..3), Set.new([[1, 2], [1, 2]].each), [3, 1, 2].each_with_index.to_set { |x, i| x * i }
class Own < Set
  def add(x) = super(x.to_s)
end
p Own.new([1, 2]).to_a, Own.new(1..2) { |x| x + 5 }.to_a
class Sevens < Range
  def each
    yield 7
    yield 8
    self
  end
end
p Sevens.new(1, 3).to_a, Sevens.new(1, 3).entries, [*Sevens.new(1, 3)], Sevens.new(1, 3).to_set
class Shuffled < Array
  def each
    yield 3
    yield 1
    yield 2
    self
  end
end
list = Shuffled[5, 4]
p list.sort_by! { |x| x }, list
begin
  Shuffled[5, 4].freeze.sort_by! { |x| x }
rescue => e
  p e.class
end
# What a block changes meanwhile.
a = [1, 2, 3, 1]
p a.uniq! { |x| a.pop; x }, a
h = { a: 1, b: 2 }
p h.transform_values! { |v| h.clear; v }, h
begin
  text = +"abc"
  text.scan(/./) { text.clear }
rescue => e
  p e
end
begin
  b = [1, 2, 3, 4, 5]
  b.bsearch { |x| b.clear; x > 2 }
rescue => e
  puts e.message
end
[1.step(9, 2), Thread.current, TracePoint.new(:line) {}, Encoding::UTF_8, caller_locations(0)[0]].each do |one|
  %i[dup clone].each do |name|
    p one.public_send(name).class
  rescue => e
    puts e.message
  end
end
