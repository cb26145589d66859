# What Hashes, Sets and Enumerators give to methods of Enumerable, which walk them without a call of `each`.
def show(name)
  puts "#{name}: #{yield.inspect}"
rescue => e
  puts "#{name}: #{e.class}"
end
walked = {
  hash: -> { { a: 1, b: 2, c: 3 } }, empty: -> { {} }, set: -> { Set[1, 2, 3] }, "set of lists": -> { Set[[1, 2], [3, 4], 5] },
  numbered: -> { [7, 8, 9].each_with_index }, "numbered range": -> { (3..5).each_with_index }, "numbered hash": -> { { a: 1, b: 2 }.each_with_index },
  times: -> { 3.times }, "no times": -> { -1.times }, each: -> { [4, 5, [6, 7]].each }, "each of a range": -> { (1..3).each }
}
blocks = {
  one: proc { |a| a }, two: proc { |a, b| [b, a] }, splat: proc { |*a| a }, optional: proc { |a, b = 9| [a, b] }, nested: proc { |a, (b, c)| [a, b, c] },
  first: proc { |a,| a }, numbers: proc { [_1, _2] }, it: proc { it }, lambda: lambda { |a| a }, name: :inspect.to_proc, method: method(:Array).to_proc
}
names = %i[map flat_map select filter_map partition group_by min_by sort_by count find all? any? take_while each_with_index uniq to_h each_with_object each_slice each_cons reduce zip to_a first]
walked.each do |what, source|
  names.each do |name|
    arguments = { each_cons: [2], each_slice: [2], each_with_object: [[]], zip: [[1, 2]] }[name] || []
    answers = blocks.map { |kind, block| "#{kind} #{source.call.send(name, *arguments, &block).then { it.is_a?(Enumerator) ? it.to_a : it }.inspect}" rescue "#{kind} #{$!.class}" }
    puts "#{what} #{name}: #{answers.join(" | ")}"
  end
end
show("a new key on the way") { h = { a: 1, b: 2 }; h.sum { |k, v| h[:z] = 1; v } }
show("a new key afterwards") { h = { a: 1, b: 2 }; h.sum { |k, v| h[:z] = 1; v } rescue h[:q] = 1; h }
show("a key less") { h = { a: 1, b: 2, c: 3 }; h.sum { |k, v| h.delete(:b); v } }
show("no keys any more") { h = { a: 1, b: 2, c: 3 }; h.max_by { |k, v| h.clear; v } }
show("thrown out") { h = { a: 1, b: 2, c: 3 }; catch(:x) { h.max_by { |k, v| throw :x, k } }; h[:n] = 1; h }
show("left by break") { h = { a: 1, b: 2, c: 3 }; x = h.inject { |a, b| break b }; h[:n] = 1; [x, h] }
show("a set grows") { s = Set[1, 2]; s.sum { |v| s << 9; v } rescue s << 3; s }
show("a list grows") { a = [1, 2, 3]; a.each_with_index.map { |v, i| a << 9 if a.size < 6; [v, i] } }
show("a list ends") { a = [1, 2, 3]; a.each_with_index.select { |v, i| a.clear if i == 1; true } }
show("in a fiber") { h = { a: 1, b: 2 }; f = Fiber.new { h.sum { |k, v| Fiber.yield(v); v } }; [f.resume, f.resume, f.resume, h.merge!(z: 1)] }
show("in a fiber that waits") { h = { a: 1, b: 2 }; f = Fiber.new { h.sum { |k, v| Fiber.yield(v); v } }; f.resume; h[:z] = 1 }
show("sparse") { h = (0..999).to_h { [it, it] }; h.delete_if { |k, _| k % 100 != 0 }; [h.sum { |k, v| v }, h.inject { |a, b| a + b }.size, h.max_by { |k, v| v }] }
show("owners") { %i[sum max_by flat_map partition].map { Hash.instance_method(it).owner } }
class Integer
  def times = yield(7)
end
show("another times") { 3.to_enum(:times).map { it } }
class Hash
  def each = yield([:q, 9])
end
show("another each") { [{ a: 1 }.sum { |k, v| v }, { a: 1 }.max_by { |k, v| v }, { a: 1 }.inject { |a, b| a }] }
class Set
  def each = yield(42)
end
show("a Set's") { [Set[1].sum { it }, Set[1].map { it }, Set[1].inject { |a, b| a }] }
