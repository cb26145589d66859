# max and min of Strings: common beginnings, zeros, lengths around eight, encodings.
words = ["", "\0", "\0\0", "a", "a\0", "a\0b", "abc", "abcd", "abcde", "abcdefg", "abcdefg\0", "abcdefgh", "abcdefghi", "abcdefgi", "\xff", "\xff\xff\xff\xff", "\u00e9", "zzzzzzzzz", "zzzzzzzzz\0"]
r = Random.new(7)
200.times do
  list = Array.new(1 + r.rand(12)) { words[r.rand(words.size)] }
  sorted = list.sort_by.with_index { |w, i| [w.bytes, i] }
  raise list.inspect unless list.max.bytes == sorted.last.bytes && list.min.bytes == sorted.first.bytes && list.minmax.map(&:bytes) == [sorted.first.bytes, sorted.last.bytes]
end
p words.max, words.min
a, b = "same", "same".dup
p [a, b].max.equal?(a), [a, b].min.equal?(a)
p ["b", "b".encode("UTF-16LE"), "a"].max.encoding
