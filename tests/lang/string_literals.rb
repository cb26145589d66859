p 'single \n \' \\', "double \t \" \\"
p %q(paren (nested) 'x'), %Q[br #{1 + 1}], %(plain "q")
p "\u00e9\u{1F600 41}"
p "\x41\101\e\0".bytes
p "a\sb"
p "\M-a".bytes
p "\C-a".bytes
p "con" "cat" 'ed'
p "#{}", "a#{nil}b", "#{:sym} #{1.0} #{[1, nil]}"
@iv = 1
$gv = 2
p "#@iv #$gv", '#{no}'
p ?a, ?\n, ?é
p :sym
p :"quoted sym"
p :"a#{1}"
p %s(x y)
p :+
p :[]=
p :a?
p :b!
p :c=
p :"9x"
p :""
p :"foo bar"
p %w[a b#{1} c\ d]
p %W[a b#{1} c\td]
p %i[a b]
p %I[a#{1} b]
p "nested #{"inner #{'deep'}"}"
p "multi
line"
p __FILE__.end_with?("string_literals.rb"), __LINE__, __method__.inspect
def meth = __method__
p meth
p 1_000_000
p 0x1f
p 0b1010
p 0o17
p 017
p 1e3
p 1.5e-3
p 10.0
p "abc" "def".length
p "é".encoding.to_s
p "\xff".valid_encoding?
p "é".b.encoding.to_s
p "a".force_encoding("US-ASCII").encoding.to_s
p "a\
b"
p "%d-%s" % [1, "x"], "%05.2f" % 3.14159, "%%" % []
p "tab\there".inspect
p "\e[0m"
p "\u200b"
p "\x7f"
p "#x"
p "\#{x}"
p "\#$x"
