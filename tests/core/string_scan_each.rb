"one two".scan(/\w+/) { |w| print w.upcase, "." }
"a1b2".scan(/([a-z])(\d)/) { |l, d| print l, "=", d, ";" }
puts
p "hello".each_char.with_index.map { |c, i| c * (i + 1) }
p "a\nb\nc".each_line.map(&:chomp)
p "abc".each_byte.sum
p "héllo".each_char.to_a.size
p "hello world foo".split.map(&:capitalize).join(" ")
p "abc".each_char.each_slice(2).map(&:join)
p "mississippi".chars.tally.to_a
p "hello".chars.sort.join
p "hello".chars.uniq.size
p "hello".each_char.select { |c| "aeiou".include?(c) }
p "a,b;c".split(/[,;]/)
p "2024-01-02".split("-").map(&:to_i)
p "key: value".split(": ", 2)
p "a b c".split(" ", -1)
p "aXbXc".split("X", 2)
p " lead".split(" ")
p "abc".chars.each_cons(2).map(&:join)
p "abcdef".scan(/../)
p "test".sum
p "line one\nline two\n".lines(chomp: true)
p "a--b".split("--")
p "abc".chars.rotate.join
p "racecar" == "racecar".reverse
p "hello world".tr("a-z", "n-za-m")
p "hello"[1..-2]
p "hello".slice(1, 3)
p "%s and %s" % %w[a b]
p "abc".unpack("a1a1a1")
p "a".ljust(3, "xy")
p "a".rjust(4, "xy")
p "a".center(6, "xy")
p "ab".succ
p "title case here".gsub(/\b\w/) { $&.upcase }
p "snake_case_word".split("_").map.with_index { |w, i| i.zero? ? w : w.capitalize }.join
p "aabbcc".squeeze
p "aabbcc".squeeze("a-b")
p "hello".delete("l-o")
p "he-llo".delete("-")
p "hello".count("a-y")
p "a\\b".length
p 'a\nb'.length
p "tel: 555".tr("^0-9", "")
p "abc".sub(/(?<x>b)/, '<\k<x>>')
p "x".encoding.name
p "abc".force_encoding("UTF-16LE").valid_encoding?
p "ab".bytes.map { |b| b.to_s(2).rjust(8, "0") }.join
