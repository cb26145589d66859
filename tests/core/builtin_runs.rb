# Builtins that work on whole runs of elements, at the borders where they go another way.

puts "-- join"
p [1, -20, 2**61, "a"].join(","), ["a", 1, :b, nil, 2.5, [3, ["c"]], "d"].join("-"), [].join(","), [[], []].join(","), [1].join.encoding
p ["é", "a".encode("US-ASCII"), 7].join("/").encoding, ["a".b, "é"].join.encoding
p (["é".encode("ISO-8859-1"), "é"].join rescue $!.message)
p ["x"] * 3 * "é", Array.new(5000) { |i| i.odd? ? i : i.to_s }.join(",").sum
class Integer; alias old_to_s to_s; def to_s(*) = "<#{old_to_s}>"; end
p [1, 2].join("+")
class Integer; alias to_s old_to_s; end

puts "-- extremes"
p [3, 1, 2].max, [3, 1, 2].min, [2**62, 1].max, [1, 2.5].max, [1.5, -0.5].min, [0.0, -0.0].min, %w[b aa c].max, %w[b aa c].min
p ([1, "a"].max rescue $!.class), ([1.0, Float::NAN].max rescue $!.class), (["a", nil].min rescue $!.class)
same = ["é", "é".dup]
p same.max.equal?(same[0]), ["a", "a".encode("UTF-16LE").force_encoding("UTF-8")].min
big = Array.new(1000) { |i| (i * 7919) % 1009 }
p big.max, big.min, big.map(&:to_f).max, big.map(&:to_s).max, [*big, 0.5].min, big.minmax
class Odd < Array; def each = yield(99); end
p Odd[1, 2].max

puts "-- small sets"
Key = Struct.new(:n) { def hash = 1; def eql?(o) = Key === o && n == o.n }
few = [1, 1.0, 2, "a", "a", nil, Key[1], Key[1]]
p few & [1, "a", Key[1]], few - [1, nil], few | [3, 2], few.union([9], [9, 8]), few.intersection([2, "a"], ["a"]), few.intersect?([Key[1]]), few.intersect?([0])
many = (1..40).to_a
p many & [40, 1], many - (1..38).to_a, ([5] | many).size, many.intersect?([41]), (many | []).size
p [Float::NAN] & [Float::NAN], (n = Float::NAN; [n] & [n]).size, [0.0] & [-0.0]

puts "-- samples"
r = ->(seed) { Random.new(seed) }
p (0...1000).to_a.sample(20, random: r[3]), (0...1000).to_a.sample(100, random: r[4]).sum, (0...50).to_a.sample(40, random: r[5]), (0...1000).to_a.sample(50, random: r[6]).uniq.size

puts "-- Set"
p Set[1, 2, 4].divide { |a, b| (a - b).abs == 1 }, Set[1, 3, 5].divide { |a, b| b == a + 2 }, Set[].divide { |a, b| true }
calls = []
Set[1, 2, 3].divide { |a, b| calls << [a, b]; a < b }
p calls
class Words < Set; end
class Plain < Set::CoreSet; end
p Words[1, 2], Words.ancestors.include?(Set::CoreSet), Plain[1], Plain.superclass, Words.new([1]) | [2], (Words[1] ^ [1, 2]).class
a, b = Set[1, [2]], Set[[2], 3].compare_by_identity
p a ^ [3, 1], a ^ Set[1], (a ^ b).size, a.replace(b).compare_by_identity?, a.size, a.replace([5]).to_a
s = Set[1]
p (s.each { s.replace([2]) } rescue $!.message)

puts "-- ranges"
p (1..3).overlap?(3..4), (1...3).overlap?(3..4), (3..1).overlap?(1..3), (..1).overlap?(1..), (1..).overlap?(...1), ("a".."c").overlap?("b".."d"), (1..2).overlap?("a".."b")
p ((1..2).overlap?(1) rescue $!.message)

puts "-- keywords"
def names(a: 0, **rest) = [a, rest]
def rest(**rest) = rest
def plain(h = nil, *r) = [h, r]
given = { a: 1, b: 2, "c" => 3 }
p names(**given), given, rest(**given).equal?(given), names(x: 1), rest(x: 1, **given), names(**{}), plain(**given), plain(**given)[0].equal?(given)
kept = rest(x: 1)
kept[:y] = 2
p kept, rest(x: 1), names(a: 5, b: 6), names(**{ a: 1 }.compare_by_identity)
def missing(**) = names(**)
p missing(z: 1), (names(1, a: 2) rescue $!.message)
define_method(:by_block) { |k: 1, **r| [k, r] }
p by_block(**given), send(:names, **given), method(:names).call(**given)

puts "-- texts"
p "a\"#x\#{1}\n\e\u00e9\u200b\\".inspect, ("x" * 9000 + "\t").inspect.size, "#".inspect, '#$a #@b #c'.inspect, "a\xffb".inspect
p "héllo".split(//), "abc".split(//, 2), "abc".split(//, -1), "".split(//), "a\xffb".b.split(//).size
p (+"abc").force_encoding("BINARY").ascii_only?, (+"é").force_encoding("US-ASCII").valid_encoding?, "abc".dup.tap(&:ascii_only?).force_encoding("UTF-16LE").ascii_only?
p 0.to_s, -7.to_s, (2**62 - 1).to_s, (-2**62).to_s, 255.to_s(16), "#{nil}|#{-12}|#{:s}", 12.to_s.encoding
p Float(3), Float(3, exception: false), Float("x", exception: false), (Float(1, exception: 1) rescue $!.message), (Float(1, nothing: 1) rescue $!.message)
x = -"some text"
p x.equal?(-("some" + " text")), x.frozen?, (-"é").equal?(-"é".b), nil.to_s.equal?(nil.to_s)
big = Struct.new(*("a".."z").map(&:to_sym)).new(*1..26)
p big[:k], big["z"], big[3], big[-1], (big[:aa] rescue $!.message), (big[26] rescue $!.message)

puts "-- callers"
def deep(n, &) = n == 0 ? yield : deep(n - 1, &)
p deep(5) { caller(0, 3).size }, deep(5) { caller(100, 2) }, deep(2) { caller(1, 0) }, deep(3) { caller_locations(1, 2).map(&:base_label) }, deep(3) { caller.size }
