# Literals of constants alone are copies of one: each evaluation gives an Array or Hash of its own.
def numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
def mixed = [1, 2.5, :three, nil, true, false, 12345678901234567890, -0.0]
def table = {a: 1, "b" => 2, 3 => :c, nil => 4, true => false, a: 5}
def long = {1 => 1, 2 => 2, 3 => 3, 4 => 4, 5 => 5, 6 => 6, 7 => 7, 8 => 8, 9 => 9, 10 => 10, 11 => 11, 12 => 12, 13 => 13, 14 => 14, 15 => 15, 16 => 16, 17 => 17, 18 => 18}

p numbers.equal?(numbers), numbers.frozen?, numbers == numbers
a = numbers
a << 21
a[0] = :changed
a.shift(3)
p a, numbers
numbers.clear
p numbers.size, numbers.sum, numbers.class

p mixed, mixed.map(&:class)
p mixed.last.to_s, mixed.frozen?

h = table
p h, h.frozen?, h.default, h.compare_by_identity?
h[:a] = 6
h.delete("b")
h["z"] = 1
p h, table
p table.key?("b"), table["b"], table[3], table[nil], table.keys.map(&:frozen?)
p table.keys[1].equal?(table.keys[1])
x = long
x.delete(1)
x[19] = 19
p x.size, long.size, long[18], x[18], x.to_a.last
p long.each_with_index.map { |(k, v), i| k == v && k == i + 1 }.all?
p long.default_proc, long.frozen?

# An iteration sees its own Hash.
3.times do |i|
  t = {a: 1, b: 2, c: 3, d: 4, e: 5}
  t.each { |k, v| t[k] = v + i }
  p t
end

# Float keys, ranges, calls: made anew.
p({1.0 => :a, 0.0 => :b, -0.0 => :c, 2 => :d, 2.0 => :e})
y = 1
p [1, 2, 3, 4, 5, y, [6], {a: 1}].tap { _1[6] << 7 }
p [1, 2, 3, 4, 5, [6], "s"].tap { _1[5] << 7; _1[6] << "t" }

# Numbers that are no small Integers, as keys.
big = {9223372036854775807 => 1, -9223372036854775808 => 2, 18446744073709551616 => 3, 4611686018427387904 => 4}
p big, big[9223372036854775807], big[18446744073709551616], big[2**62]

# In a frozen-string-literal file.
eval <<~RUBY
  # frozen_string_literal: true
  def names = ["one", "two", "three", "four", "five", "six", "one"]
  def words = {"one" => "1", "two" => "2", "three" => "3", "four" => "one"}
RUBY
p names, names.map(&:frozen?).uniq, names[0].equal?(names[0]), names[0].equal?(names[6])
p words, words.values.map(&:frozen?), words.keys[0].equal?(words["four"])

# Unused ones, and splats among them.
[1, 2, 3, 4, 5, 6, 7]
p [*[1, 2, 3, 4, 5, 6, 7], 8]
p(**{a: 1, b: 2, c: 3, d: 4}) rescue p $!.class
case 7 when *[1, 2, 3, 4, 5, 6, 7] then p :in end
a, b, *c = [1, 2, 3, 4, 5, 6, 7]
p a, b, c
a, b = [1, 2, 3, 4, 5, 6, 7]
p [a, b]
p %i[a b c d e f g], %w[a b c d e f g].map(&:frozen?).uniq
