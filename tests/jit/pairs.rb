# Blocks of two parameters that take Arrays apart, and blocks of walks over Strings: machine code goes on with the next element.
N = 30_000
pairs = Array.new(N) { |i| [i & 15, i & 7] }
sum = 0
pairs.each { |a, b| sum += a * b }
p sum
p pairs.map { |a, b| a + b }.sum, pairs.select { |a, b| a == b }.size, pairs.reject { |a, b| a == b }.size, pairs.select { |a, b| a == b }.first
p pairs.sum { |a, b| a ^ b }, pairs.count { |a, b| a < b }, pairs.find { |a, b| a - b == 8 }, pairs.find_index { |a, b| a + b > 21 }, pairs.any? { |a, b| b > 7 }, pairs.all? { |a, b| b < 8 }
p pairs.sort_by { |a, b| a * 8 + b }.last, pairs.max_by { |a, b| a - b }, pairs.min_by { |a, b| [a, b] }, pairs.group_by { |a, b| a ^ b }.keys.sort, pairs.partition { |a, b| a < b }.map(&:size)
p pairs.to_h { |a, b| [a, b] }.size, pairs.filter_map { |a, b| a if b == 3 }.sum, pairs.flat_map { |a, b| [a, b] }.size, pairs.uniq { |a, b| a - b }, pairs.each_entry { |a, b| sum -= a * b }.size, sum

# Other lengths, other classes, and what is no Array.
mixed = [[1], [2, 3], [4, 5, 6], [], [nil, 7], [[8, 9], 10]] * 2000
seen = []
mixed.each { |a, b| seen << [a, b] if seen.size < 8 }
p seen, mixed.map { |a, b| b.nil? }.tally, mixed.map { |(a, c), b| a }.tally
class Pair < Array; end
class Like
  def to_ary = [:to, :ary]
end
odd = [[1, 2], Pair[3, 4], 5, nil, [6, 7], Like.new, { a: 1 }, "s", [8, 9]]
p odd.map { |a, b| [a.is_a?(Hash) ? :hash : a, b] }
long = Array.new(N) { |i| i == 20_000 ? Like.new : i == 25_000 ? i : [i, 1] }
last = nil
p long.map { |a, b| last = [a, b]; b }.tally, last
p long.count { |a, b| b == 1 }, long.select { |a, b| b.nil? }, long.find { |a, b| b == :ary }.class, long.find { |a, b| a == 25_000 }, long.find { |a, b| a == 29_999 }

# Two parameters of other kinds take it apart as well.
p pairs.first(3).map { |a, b = 5| [a, b] }, pairs.first(3).map { |a, *b| [a, b] }, pairs.first(3).map { |a, b, c| [a, b, c] }, pairs.first(3).map { |a, b, k: 1| [a, b, k] }, pairs.first(3).map { _1 + _2 }, pairs.first(3).map { it.sum }
p pairs.first(3).map(&->((a, b)) { a + b }), (pairs.first(3).map(&->(a, b) { a + b }) rescue $!.class)
p pairs.first(3).each(&proc { |a, b| a }).size

# What is walked changes.
grown = [[1, 2]]
p grown.map { |a, b| grown << [a + 1, b] if grown.size < N; a }.last
shrunk = Array.new(N) { |i| [i, i] }
p shrunk.map { |a, b| shrunk.pop; a }.size
cut = Array.new(N) { |i| [i, i] }
r = cut.each { |a, b| cut[a + 1] = nil if a == 20_000; cut[a + 2] = 7 if a == 20_000 }
p r.size
p Array.new(N) { |i| [i, i + 1] }.each { |a, b| break [a, b] if a == 20_000 }
def first_of(list) = list.each { |a, b| return [:found, a] if b == 20_001 }
p first_of(Array.new(N) { |i| [i, i + 1] })
begin
  Array.new(N) { |i| [i, i] }.each { |a, b| raise "at #{a}" if b == 20_000 }
rescue => e
  p e.message, e.backtrace.size
end

# Strings.
text = "abc déf\n" * 5_000
n = 0
text.each_char { |c| n += c.bytesize }
p n
n = 0
text.each_byte { |b| n = (n * 33 + b) & 0xffffff }
p n
n = 0
text.each_line { |l| n += l.size }
text.each_line(chomp: true) { |l| n -= l.size }
p n, text.lines.size, text.chars.size, text.bytes.size
p text.each_char { |c| break c if c == "\n" }, text.each_byte { |b| break b if b > 127 }
growing = +"a"
growing.each_byte { |b| growing << "b" if growing.size < N }
p growing.size
changed = +"abc"
changed.each_char { |c| changed.replace("x") }
p changed
p "a\r\nb\n\n\nc\n".each_line("").to_a, "a\r\nb\n".each_line(chomp: true).to_a, "a--b--c".each_line("--", chomp: true).to_a, "x\u3042".encode("UTF-16LE").each_line.to_a.size
