p "hello world".gsub(/o/, "0")
p "hello".gsub(/[el]/, "e" => "3", "l" => "1")
p "a-b-c".gsub("-", "+")
p "hello".gsub(/(l+)/) { $1.upcase }
p "x1y2".gsub(/\d/) { |d| (d.to_i + 1).to_s }
p "John Smith".sub(/(?<f>\w+) (?<l>\w+)/, '\k<l>, \k<f>')
p "aaa".sub("a", '\0\0')
p "path".gsub(/(?<=a)t/, "T")
p "abc".gsub(/b/, '[\`|\&|\']')
p "a.b.c".gsub(".") { "-" }
p "test".gsub(/t/).with_index { |m, i| "#{m}#{i}" }
p "price: 1234567".gsub(/(\d)(?=(\d{3})+$)/, '\1,')
p "some_snake_case".gsub(/_(\w)/) { $1.upcase }
p "SomeCamelCase".gsub(/(?<!^)([A-Z])/, '_\1').downcase
p "  trim  me ".gsub(/\A\s+|\s+\z/, "")
p "a\nb\n".gsub(/^/, "> ")
p "aXbX".gsub("X", "\\\\")
p "hello".gsub(/l/) { |m| $~.begin(0).to_s }
p "abc".gsub(/x*/, "-")
p "abc".gsub("", "-")
p "日本語".gsub(/本/, "x")
p "aaa".gsub(/a/) { |m| m.succ }
p "foo bar".gsub(/(\w+) (\w+)/, '\2 \1')
p "foo".gsub(/o/, "o" => "0")
p "cat".gsub(/[aeiou]/, "a" => "1")
s = +"mutable"
p s.gsub!(/u/, "U")
p s.gsub!(/z/, "Z")
p s.sub!(/M/i, "n")
p s
p s.gsub(/t/).to_a
p s.tr("a-m", "A-M")
p s.delete("aeiou")
p s.squeeze
p "k=v; a=b".scan(/(\w)=(\w)/).to_h.to_a
p "1,2;3".split(/[,;]/).map(&:to_i)
p "2024-05-06"[/\d+-(\d+)/, 1]
p "ab12cd".scan(/[a-z]+|\d+/)
p "aAbB".swapcase
p "x" =~ /y/
p $~
