t = "one\ntwo\r\nthree\n\n\nfour"
p t.lines
p t.lines(chomp: true)
p t.each_line.count
p t.each_line("").to_a
p t.each_line(chomp: true).map(&:size)
p t.lines("o")
p t.split("\n")
p t.split("\n", -1)
p "a\n".chomp
p "a\r\n".chomp
p "a\n\n".chomp
p "a\r".chomp
p "abc".chomp("c")
p "a\n\n".chomp("")
p "a".chop
p "a\r\n".chop
p "".chop
p "x\n".strip
p "\t a b \n".strip
p "\t a".lstrip
p "a \n".rstrip
p "\u00a0a".strip
p "xxaxx".delete("x")
p "  a  ".squeeze
p "abc".each_line.to_a
p "".lines
p "\n".lines
p "\n\n".lines(chomp: true)
p "a,b\nc,d".lines.map { |l| l.chomp.split(",") }
