p "hello".sub("l", "L")
p "hello".gsub("l", "L")
p "hello".gsub(/[eo]/, "e" => "3", "o" => "0")
p "hello".gsub(/l/) { |m| m.upcase }
p "hello".gsub(/(?<first>l)/, '<\k<first>>')
p "hello".sub(/(h)(e)/, '\2\1')
p "hello".gsub(/(l)(l)/, '[\0|\1|\2|\\\\]')
p "a.b".gsub(".", "-")
p "hello".gsub(/x*/, "-")
p "abc".gsub(/b/, '\`|\'')
p "hello".gsub("l")
p "path/to".gsub("/", "\\/")
p "hello world".gsub(/o/).with_index.map { |m, i| "#{m}#{i}" }
p "héllo".gsub(/é/, "e")
p "aaa".sub(/a/) { $~.pre_match + "x" }
p "John Smith".sub(/(\w+) (\w+)/, '\2, \1')
p "abc".gsub(/./) { |c| c.ord.to_s + " " }
p "x-y".tr("-", "_")
p "hello".gsub(/l/, "")
p "%d%%" % 5
p "abc".gsub(/(?=b)/, "|")
p "test".gsub("t", "t" => "T")
p "cat hat".gsub(/[ch]at/) { |m| { "cat" => "dog" }[m] }
p "a1b22".gsub(/\d+/) { |n| (n.to_i * 2).to_s }
p "ab" "cd".gsub("b", '\\0\\0')
p "foo.bar".sub(/\.(?<ext>\w+)$/) { "-" + $~[:ext] }
