# Blocks of these builtins begin their rounds themselves, as `RubyVM::JIT.stat` tells. (In `--jit=on` it is chance whether machine code is there in time.)
collections = GC.count
100.times { [] }
# (Where each safepoint collects, somebody wants attention in each round.)
MODE = GC.count - collections > 50 ? :off : RubyVM::JIT.stat[:mode]
list = Array.new(1000) { |i| i }
hash = list.to_h { |i| [i, i] }
pairs = hash.to_a
set = list.to_set
text = "a\n" * 1000
sum = 0
{
  times: -> { 1000.times { |i| sum += i } },
  "times without a parameter" => -> { 1000.times { sum += 1 } },
  upto: -> { 1.upto(1000) { |i| sum += i } },
  downto: -> { 1000.downto(1) { |i| sum += i } },
  step: -> { 1.step(3000, 3) { |i| sum += i } },
  "Range#each" => -> { (1..1000).each { |i| sum += i } },
  "Array#each" => -> { list.each { |i| sum += i } },
  each_index: -> { list.each_index { |i| sum += i } },
  reverse_each: -> { list.reverse_each { |i| sum += i } },
  map: -> { list.map { |i| i + 1 } },
  "Range#map" => -> { (1..1000).map { |i| i + 1 } },
  select: -> { list.select { |i| i > 500 } },
  reject: -> { list.reject { |i| i > 500 } },
  filter_map: -> { list.filter_map { |i| i + 1 if i > 500 } },
  each_with_index: -> { list.each_with_index { |x, i| sum += x ^ i } },
  each_with_object: -> { list.each_with_object(1) { |x, y| sum += x + y } },
  inject: -> { list.inject { |a, x| a ^ x } },
  sum: -> { list.sum { |x| x & 3 } },
  count: -> { list.count { |x| x > 3 } },
  all?: -> { list.all? { |x| x < 2000 } },
  any?: -> { list.any? { |x| x > 2000 } },
  none?: -> { list.none? { |x| x > 2000 } },
  find: -> { list.find { |x| x > 2000 } },
  "Array.new" => -> { Array.new(1000) { |i| i & 3 } },
  "Hash#each" => -> { hash.each { |k, v| sum += k ^ v } },
  each_key: -> { hash.each_key { |k| sum += k } },
  each_value: -> { hash.each_value { |v| sum += v } },
  partition: -> { list.partition { |x| x > 500 } },
  sort_by: -> { list.sort_by { |x| -x } },
  min_by: -> { list.min_by { |x| -x } },
  group_by: -> { list.group_by { |x| x & 3 } },
  flat_map: -> { list.flat_map { |x| [x, x] } },
  to_h: -> { list.to_h { |x| [x, x] } },
  uniq: -> { list.uniq { |x| x & 3 } },
  find_index: -> { list.find_index { |x| x > 2000 } },
  each_slice: -> { list.each_slice(1) { |x| sum += x.size } },
  each_cons: -> { list.each_cons(2) { |x| sum += x.size } },
  fill: -> { list.dup.fill { |x| x + 1 } },
  map!: -> { list.dup.map! { |x| x + 1 } },
  select!: -> { list.dup.select! { |x| x > 500 } },
  "Hash#map": -> { hash.map { |k, v| k + v } },
  "Hash#select": -> { hash.select { |k, v| v > 500 } },
  "Hash#any?": -> { hash.any? { |k, v| v > 2000 } },
  "Hash#count": -> { hash.count { |k, v| v > 500 } },
  transform_values: -> { hash.transform_values { |v| v + 1 } },
  "map.with_index": -> { list.map.with_index { |x, i| x + i } },
  "each_with_index.map": -> { list.each_with_index.map { |x, i| x + i } },
  "each_with_index.select": -> { list.each_with_index.select { |x, i| x > i } },
  "each_with_index.inject": -> { list.each_with_index.inject(0) { |s, x| s + x[0] } },
  "each.sum": -> { list.each.sum { |x| x & 3 } },
  "times.map": -> { 1000.times.map { |i| i + 1 } },
  "Hash#sum": -> { hash.sum { |k, v| k ^ v } },
  "Hash#max_by": -> { hash.max_by { |k, v| k ^ v } },
  "Hash#inject": -> { hash.inject(0) { |s, x| s + x[0] } },
  "Hash#each_with_index": -> { hash.each_with_index { |x, i| sum += i } },
  "Hash#each, pairs": -> { hash.each { |x| sum += x.size } },
  "Set#map": -> { set.map { |x| x + 1 } },
  "Set#any?": -> { set.any? { |x| x > 2000 } },
  # As many comparisons as that takes.
  sort: -> { list.first(170).sort { |x, y| y <=> x } },
  "each of pairs": -> { pairs.each { |a, b| sum += a ^ b } },
  "map of pairs": -> { pairs.map { |a, b| a + b } },
  each_char: -> { text.delete("\n").each_char { |c| sum += c.bytesize } },
  each_byte: -> { text.delete("\n").each_byte { |b| sum += b } },
  "map(&:name)" => -> { list.map(&:itself) },
  "sum(&:name)" => -> { list.sum(&:succ) },
  "times(&:name)" => -> { 1000.times(&:succ) },
  each_line: -> { text.each_line { |l| sum += l.size } },
}.each do |name, work|
  before = RubyVM::JIT.stat[:rounds]
  work.call
  begun = RubyVM::JIT.stat[:rounds] - before
  right = case MODE
          when :off then begun == 0
          when :on then begun <= 1000
          when :always then begun.between?(900, 1000)
          else begun.between?(100, 1000)
          end
  puts "#{name}: #{right ? "right" : begun}"
end
# Each round has variables of its own here.
before = RubyVM::JIT.stat[:rounds]
1000.times { |i| own = i; -> { own } }
p RubyVM::JIT.stat[:rounds] - before
