# ns a round of loops by blocks that are entered once, as at the top of a script (docs/decisions/0036-blocks-go-round.md); any Ruby runs it: RUBY block_loops.rb [ROUNDS]
N = Integer(ARGV[0] || 6_000_000)
PAIRS = N / 6

def measure(name, rounds = N)
  before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  after = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  printf "%-22s %6.2f\n", name, (after - before) * 1e9 / rounds
end
def succ_of(x) = x + 1

s = 0
list = Array.new(N) { |i| i & 255 }
hash = PAIRS.times.to_h { |i| [i, i & 7] }
measure("while") { i = 0; while i < N; s += i & 15; i += 1; end }
measure("times") { N.times { |k| s += k & 15 } }
measure("times, no parameter") { N.times { s += 1 } }
measure("times, a call") { N.times { |k| s = succ_of(k) } }
measure("upto") { 1.upto(N) { |k| s += k & 15 } }
measure("step") { 1.step(N, 1) { |k| s += k & 15 } }
measure("Range#each") { (1..N).each { |k| s += k & 15 } }
measure("Array#each") { list.each { |k| s += k & 15 } }
measure("reverse_each") { list.reverse_each { |x| s += x } }
measure("Hash#each", PAIRS) { hash.each { |k, v| s += k ^ v } }
measure("each_value", PAIRS) { hash.each_value { |v| s += v } }
measure("map") { list.map { |x| x + 1 } }
measure("Range#map") { (1..N).map { |x| x & 3 } }
measure("select") { list.select { |x| x > 100 } }
measure("each_with_index") { list.each_with_index { |x, i| s += x ^ i } }
measure("each_with_object") { list.each_with_object([0]) { |x, a| a[0] += x } }
measure("inject") { list.inject { |a, x| a ^ x } }
measure("sum") { list.sum { |x| x & 3 } }
measure("count") { list.count { |x| x.odd? } }
measure("all?") { list.all? { |x| x < 1000 } }
measure("Array.new") { Array.new(N) { |i| i & 3 } }
measure("partition") { list.partition { |x| x > 100 } }
# A name that is written there, and one that comes as an object.
Item = Struct.new(:plain) { def worked = plain + 1 }
items = Array.new(PAIRS) { |i| Item.new(i) }
succ, even, plain, worked = %i[succ even? plain worked]
measure("map(&:succ)") { list.map(&:succ) }
measure("map(&succ)") { list.map(&succ) }
measure("select(&:even?)") { list.select(&:even?) }
measure("select(&even)") { list.select(&even) }
measure("map(&:plain)", PAIRS) { items.map(&:plain) }
measure("map(&plain)", PAIRS) { items.map(&plain) }
measure("sum(&:worked)", PAIRS) { items.sum(&:worked) }
measure("sum(&worked)", PAIRS) { items.sum(&worked) }
measure("sort_by(&:worked)", PAIRS) { items.sort_by(&:worked) }
measure("sort_by(&worked)", PAIRS) { items.sort_by(&worked) }
measure("sort_by") { list.sort_by { |x| -x } }
measure("min_by") { list.min_by { |x| -x } }
measure("group_by") { list.group_by { |x| x & 15 } }
measure("to_h") { list.to_h { |x| [x, x] } }
measure("uniq") { list.uniq { |x| x & 15 } }
measure("find_index") { list.find_index { |x| x > 1000 } }
measure("take_while") { list.take_while { |x| x < 1000 } }
measure("each_slice", N / 4) { list.each_slice(4) { |x| s += x.size } }
measure("map.with_index") { list.map.with_index { |x, i| x + i } }
measure("each_with_index.map") { list.each_with_index.map { |x, i| x + i } }
measure("each_with_index.inject") { list.each_with_index.inject(0) { |sum, (x, i)| sum + x } }
measure("each_with_index.select") { list.each_with_index.select { |x, i| x > 3 } }
measure("times.map") { N.times.map { |i| i & 15 } }
set = (0...PAIRS).to_set
measure("Set#map", PAIRS) { set.map { |x| x & 15 } }
measure("Set#sum", PAIRS) { set.sum { |x| x & 15 } }
measure("Hash#sum", PAIRS) { hash.sum { |k, v| v } }
measure("Hash#inject", PAIRS) { hash.inject(0) { |sum, (k, v)| sum + v } }
measure("Hash#max_by", PAIRS) { hash.max_by { |k, v| v } }
measure("Hash#sort_by", PAIRS) { hash.sort_by { |k, v| v } }
measure("Hash#each_with_index", PAIRS) { hash.each_with_index { |(k, v), i| s += i } }
measure("delete_if") { list.dup.delete_if { |x| x > 100 } }
measure("Hash#map", PAIRS) { hash.map { |k, v| k + v } }
measure("Hash#select", PAIRS) { hash.select { |k, v| v > 3 } }
measure("Hash#any?", PAIRS) { hash.any? { |k, v| v > 10 } }
measure("transform_values", PAIRS) { hash.transform_values { |v| v + 1 } }
pairs = hash.to_a
measure("each of pairs", PAIRS) { pairs.each { |a, b| s += a ^ b } }
measure("map of pairs", PAIRS) { pairs.map { |a, b| a + b } }
measure("sort_by of pairs", PAIRS) { pairs.sort_by { |a, b| -a } }
text = "abcdefgh\n" * (N / 18)
measure("each_char", text.size) { text.each_char { |c| s += c.bytesize } }
measure("each_byte", text.size) { text.each_byte { |b| s += b } }
measure("each_line", N / 18) { text.each_line { |l| s += l.size } }
seed = 7
mixed = Array.new(PAIRS) { seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff }
strings = mixed.map(&:to_s)
measure("sort", PAIRS) { mixed.sort { |a, b| b <=> a } }
measure("sort_by to Strings", PAIRS) { strings.sort_by { |w| w } }
