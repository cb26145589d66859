p "a\"b"
p 'a#b'
p '#{x}'
p "\#$a"
p "\a\b\t\n\v\f\r\e"
p "\x00\x01\x7f"
p "é"
p "\u0300"
p "\u{1F600}"
p "\\"
p "\xff"
p "é".b
p "a\u200bb"
puts "é\n\"".dump, "\u{1F600}".dump, "é\\n".dump.undump, "\x01".dump
p :a
p :"a b"
p :"a="
p :[]
p :"foo?"
p :"Foo"
p :"1a"
p :"é"
p :"a-b"
p :+
p :!
p :"&&"
p :"@a"
p :"@@b"
p :"$c"
p :"@1"
p "a".inspect.encoding.to_s
p "%p" % ["x"]
p ["a\n"].to_s
p({ 1 => "é" }.values.inspect)
