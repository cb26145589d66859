p 'single \n \' \\', "double \t \" \\"
p %q(paren (nested) 'x'), %Q[br #{1 + 1}], %(plain "q")
p "\u00e9\u{1F600 41}", "\x41\101\e\0".bytes, "a\sb", "\M-a".bytes, "\C-a".bytes
p "con" "cat" 'ed'
p "#{}", "a#{nil}b", "#{:sym} #{1.0} #{[1, nil]}"
@iv = 1
$gv = 2
p "#@iv #$gv", '#{no}'
p ?a, ?\n, ?é
p :sym, :"quoted sym", :"a#{1}", %s(x y), :+, :[]=, :a?, :b!, :c=, :"9x", :"", :"foo bar"
p %w[a b#{1} c\ d], %W[a b#{1} c\td], %i[a b], %I[a#{1} b]
p "nested #{"inner #{'deep'}"}"
p "multi
line"
p __FILE__.end_with?("string_literals.rb"), __LINE__, __method__.inspect
def meth = __method__
p meth
p 1_000_000, 0x1f, 0b1010, 0o17, 017, 1e3, 1.5e-3, 10.0
p "abc" "def".length
p "é".encoding.to_s, "\xff".valid_encoding?, "é".b.encoding.to_s, "a".force_encoding("US-ASCII").encoding.to_s
p "a\
b"
p "%d-%s" % [1, "x"], "%05.2f" % 3.14159, "%%" % []
p "tab\there".inspect, "\e[0m", "\u200b", "\x7f", "#x", "\#{x}", "\#$x"
