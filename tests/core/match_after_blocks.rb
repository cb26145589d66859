# What blocks of `sub` have matched stays, those of `gsub` are overwritten; a wrong radix is an error whatever `exception:` says.
"abc".sub(/b/) { "x" =~ /x/; "" }
p $~
"abc".sub(/b/) { "x" =~ /y/; "" }
p $~
"abc".sub(/b/, "x")
p $~
"abc".sub(/b/, "b" => "d")
p $~
"abc".gsub(/b/) { "x" =~ /x/; "" }
p $~
text = +"abc"
text.sub!(/b/) { "x" =~ /x/; "" }
p $~, text
"abc".sub("b") { "x" =~ /x/; "" }
p $~
p("x".sub(/(x)/) { "y".sub(/(y)/) { "z".sub(/(z)/) { $1 } + $1 } + $1 })
[1, 99, -99, 36, -36, -1, 0].each do |base|
  p Integer("1", base, exception: false)
rescue ArgumentError => e
  puts e.message
end
p Integer("x", 8, exception: false), (Integer(1, 99, exception: false) rescue $!.message)
