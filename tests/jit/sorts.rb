# Sorts whose blocks go round in machine code: what they order, in which way they end, and Strings that are told apart by how they begin.
N = 20_000
seed = 7
data = Array.new(N) { seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff }
down = data.sort { |a, b| b <=> a }
p down == data.sort.reverse, down.first(2), data.sort { |a, b| (a & 255) <=> (b & 255) }.each_cons(2).all? { |a, b| a & 255 <= b & 255 }
# Stable, whatever the length.
p (0..70).all? { |n| list = Array.new(n) { |i| [data[i] & 7, i] }; list.sort { |a, b| a[0] <=> b[0] } == list.sort_by { |x| x } }
p (0..70).all? { |n| Array.new(n) { |i| i }.sort { |a, b| a <=> b } == (0...n).to_a && Array.new(n) { |i| i }.sort { |a, b| b <=> a } == (0...n).to_a.reverse }
# What blocks answer.
p data.sort { |a, b| (a <=> b) * 2**70 } == data.sort, data.sort { |a, b| (a <=> b) * 0.25 } == data.sort, data.sort { |a, b| (a <=> b).to_r / 3 } == data.sort
p((data.sort { |a, b| a == down[5] ? "text" : a <=> b } rescue $!.class))
p((data.sort { |a, b| a == down[5] ? nil : a <=> b } rescue $!.class))
p((data.sort { |a, b| a == down[5] ? raise("found") : a <=> b } rescue $!.message))
p data.sort { |a, b| a == down[5] ? (break :left) : a <=> b }
def leave(data, one) = data.sort { |a, b| a == one ? (return :returned) : a <=> b }
p leave(data, down[5])
p data.sort { |a, b| next b <=> a if a > 5; 0 } == down, data.sort { |a| 0 } == data, data.sort { 0 } == data, data.first(9).sort { |*all| all[1] <=> all[0] }
p data.sort(&->(a, b) { b <=> a }) == down, data.sort(&:<=>) == data.sort, data.dup.sort! { |a, b| b <=> a } == down, data.each_entry.sort { |a, b| b <=> a } == down
# What is sorted changes; another one is sorted in between.
list = data.dup
p list.sort { |a, b| list.clear; a <=> b } == data.sort, list
list = data.dup
p list.sort! { |a, b| list.pop if list.size > N - 5; a <=> b }.size
p data.first(300).sort { |a, b| [a, b].sort { |x, y| y <=> x }[0] == a ? 1 : -1 } == data.first(300).sort
thread = Thread.new { data.sort { |a, b| Thread.pass; a <=> b } }
p data.sort { |a, b| b <=> a } == down, thread.value == data.sort
fiber = Fiber.new { data.first(50).sort { |a, b| Fiber.yield(a); a <=> b } }
last = nil
last = fiber.resume while fiber.alive?
p last == data.first(50).sort
# Strings.
words = data.map { |n| "key#{n % 3000}" }
p words.sort == words.sort { |a, b| a <=> b }, words.sort_by { |w| w } == words.sort, words.sort_by { |w| w.reverse } == words.sort { |a, b| a.reverse <=> b.reverse }
p ["b\0", "b", "", "a\0\0", "ab", "a", "a\0", "b\0\0\0\0\0\0\0", "b\0\0\0\0\0\0\0\0", "b\0\0\0\0\0\0"].sort
p %w[abcdefgh abcdefghi abcdefg abcdefgha abcdefgi].sort, ["\xff".b, "\x80".b, "\x7f".b, "zz".b].sort, %w[é z Z ü aé].sort
p ["a".encode("UTF-16LE"), "b".encode("UTF-16LE"), "\u0101".encode("UTF-16LE")].sort.map(&:bytes), ["b", "a".b, "é"].sort.map(&:encoding)
p((["a", :a].sort rescue $!.class), (["a", nil].sort_by { |x| x } rescue $!.class))
class Backwards < String
  def <=>(other) = -super
end
p [Backwards.new("a"), Backwards.new("c"), Backwards.new("b")].sort.map(&:to_s), [3, 1, 2].sort_by { |x| Backwards.new(x.to_s) }
long = Array.new(150_000) { |i| "common beginning #{data[i % N] ^ i}" }
p long.sort.each_cons(2).all? { |a, b| (a <=> b) < 1 }, long.sort_by { |x| x } == long.sort
