# Parts of string_build.rb (s.), hash_work.rb (h.) and array_work.rb (a.): processor time in nanoseconds of one round each. `compare` beside this file takes two interpreters by turns and prints ratios.
def part(name, rounds = 20)
  start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  rounds.times { |round| yield round }
  puts "#{name}\t#{(Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) - start) / rounds}"
end

buffer = String.new
8_000.times { |i| buffer << "item " << i.to_s << ": " << (i * 3).to_s << "\n" }
csv = (0...2_000).map { |i| "#{i},name#{i},#{i * 0.5},#{i.even? ? 'yes' : 'no'}" }.join("\n")
words = buffer.split
utf = "Zürich – naïve café – Ελληνικά " * 40
part("s.append", 30) { |r| b = String.new;  8_000.times { |i| b << "item " << i.to_s << ": " << (i * r).to_s << "\n" } }
part("s.each_byte", 7) { sum = 0; buffer.each_byte { |b| sum = (sum * 33 + b) & 0xffffffff } }
part("s.csv_map_join", 30) { (0...2_000).map { |i| "#{i},name#{i},#{i * 0.5},#{i.even? ? 'yes' : 'no'}" }.join("\n") }
part("s.split_line", 30) { total = 0; csv.each_line(chomp: true) do |line|
    id, name, amount, flag = line.split(",")
    total += id.to_i + name.size + amount.to_f.to_i + (flag == "yes" ? 1 : 0)
  end }
part("s.tr", 30) { csv.tr("a-y", "b-z").count("z") }
part("s.upcase_index", 30) { csv.upcase.index("NAME1999") }
part("s.sub_gsub", 30) { csv.sub("name77", "other").gsub("name", "label").size }
part("s.reverse", 30) { csv.reverse.size }
part("s.split", 30) { buffer.split }
part("s.capitalize_uniq", 30) { words.map(&:capitalize).uniq.size }
part("s.max_by", 30) { words.max_by(&:size) }
part("s.each_char", 30) { total = 0; utf.each_char { |c| total += c.bytesize } }
part("s.chars", 30) { utf.chars.size + utf.index("Ελ") }
part("s.substr_utf", 30) { pos = 0; total = 0;   while pos < utf.size
    total += utf[pos, 3].size
    pos += 7
  end }
part("s.line", 30) {   line = +""
  3_000.times do |i|
    line << 97 + i % 26
    line = line[-50..] if line.size > 100
  end }
part("s.to_sym", 30) { 20_000.times.sum { |i| "key#{i % 100}".to_sym == :key42 ? 1 : 0 } }
class Point
  attr_reader :x, :y
  def initialize(x, y)
    @x = x
    @y = y
  end
  def hash = @x * 31 + @y
  def eql?(other) = @x == other.x && @y == other.y
end
ints = {}
part("h.set") { ints = {}; 40_000.times { |i| ints[i * 7 % 65_537] = i } }
part("h.get") { total = 0; 40_000.times { |i| total += ints[i] || 1 } }
part("h.delete_if") { ints.dup.delete_if { |k, _| k.odd? } }
counts = nil
part("h.count_words") { counts = Hash.new(0);  40_000.times { |i| counts["word#{i * i % 997}"] += 1 } }
part("h.sort_by") { counts.size + counts.values.max + counts.sort_by { |w, n| [-n, w] }.first[1] }
part("h.lists") { lists = Hash.new { |h, k| h[k] = [] };  20_000.times { |i| lists[i % 101] << i }; lists.sum { |k, v| k * v.size } }
points = nil
part("h.points_set") { points = {};  8_000.times { |i| points[Point.new(i % 80, i / 80)] = i } }
part("h.points_get") { total = 0;  8_000.times { |i| total += points[Point.new(i % 80, i / 80)] } }
pairs = nil
part("h.pairs_set") { pairs = {};  8_000.times { |i| pairs[[i % 50, i / 50]] = i } }
part("h.pairs_count") { pairs.count { |(a, b), v| a + b < v % 100 } }
part("h.small") { small = 0;   30_000.times do |i|
    h = { id: i, name: "n", size: i + 1 }
    small += h[:id] + h[:size]
    h[:id] = 0
  end }
part("h.merge") { counts.merge(counts) { |_, a, b| a + b }.values.sum }
part("h.group_by") { counts.group_by { |_, n| n }.transform_values(&:size).to_a.flatten.sum }
part("h.to_h") { counts.to_a.each_with_index.to_h { |(w, _), i| [i, w.size] }.values.sum }
part("h.identity") {  same = {}.compare_by_identity; 500.times { |i| same["s#{i % 3}"] = i } }
def pseudo_random(n, seed)
  Array.new(n) { seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff }
end
def sieve(n)
  composite = Array.new(n + 1, false)
  count = 0
  i = 2
  while i <= n
    unless composite[i]
      count += 1
      j = i * i
      while j <= n
        composite[j] = true
        j += i
      end
    end
    i += 1
  end
  count
end
def multiply(a, b)
  columns = b.transpose
  a.map { |row| columns.map { |col| row.zip(col).sum { |x, y| x * y } } }
end
def quicksort(list)
  return list if list.size < 2
  pivot, *rest = list
  low, high = rest.partition { |x| x < pivot }
  quicksort(low) + [pivot] + quicksort(high)
end
data = sorted = nil
part("a.random") { |r| data = pseudo_random(20_000, r + 1) }
part("a.sort") { sorted = data.sort }
part("a.sort_block") { data.sort { |a, b| b <=> a }[100] }
part("a.sort_by") { data.sort_by { |x| -x }[5] }
part("a.map_select") { data.map { |x| x & 255 }.select(&:even?).reduce(:+) }
part("a.each_slice") { data.each_slice(7).sum { |s| s.min } % 1_000_003 }
part("a.each_cons") { data.each_cons(3).count { |a, b, c| a < b && b < c } }
part("a.bsearch") { total = 0;  1_000.times { |i| total += sorted.bsearch { |x| x >= i * 2_000_000 } || 0 } }
part("a.sieve") { sieve(60_000) }
part("a.multiply") { |round| m = Array.new(40) { |i| Array.new(40) { |j| (i * j + round) % 10 } }; multiply(m, m).flatten.sum }
part("a.quicksort") { quicksort(data.first(4_000)).each_with_index.sum { |x, i| x * i % 7 } }
part("a.queue") { total = 0; queue = [];   30_000.times do |i|
    queue.push(i)
    total += queue.shift if queue.size > 100
  end }
part("a.stack") { total = 0;  stack = [];  20_000.times { |i| i % 3 == 2 ? total += stack.pop : stack.push(i) } }
part("a.inner") {   inner = 0
  xs = Array.new(10_000) { |i| i * 0.5 }
  xs.each_with_index { |x, i| inner += x * xs[-i - 1] } }
part("a.permutation") { (1..7).to_a.permutation.count { |p| p[0] < p[6] } }
part("a.combination") { (0...30).to_a.combination(3).sum { |a, b, c| a ^ b ^ c } }
part("a.sets") { data.uniq.size + (data & sorted).size + (data - sorted).size + data.rotate(3).first }
part("a.with_object") { data.each_with_object([]) { |x, acc| acc.unshift(x) if x % 50 == 0 }.size }
part("a.fill") { data.dup.fill { |i| i }.take_while { |x| x < 5_000 }.inject { |a, b| a + b } }
part("a.flatten") { [data.first(500), [sorted.first(500), [1, [2, [3]]]]].flatten.size }
