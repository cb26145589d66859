s = +"hello"
s[0] = "J"; p s
s[-1] = "y!"; p s
s[1..2] = "E"; p s
s[/l+/] = "L"; p s
s["J"] = "j"; p s
s[0, 0] = ">>"; p s
s.insert(-1, "<<"); p s
p s.slice!(0, 2)
p s
p s.slice!(/<+/)
p s
p s.slice!(100)
begin; s["nope"] = "x"; rescue IndexError => e; p e.message; end
begin; s[100] = "x"; rescue IndexError => e; p e.message; end
p s.upcase!
p s
p s.upcase!
p s.downcase!
p s.capitalize!
p s.swapcase!
p s.reverse!
p s.squeeze!
p s.strip!
p s.chomp!
p s.chop!
p s
t = +"a-b-c"
p t.gsub!("-", "+")
p t.sub!("x", "y")
p t.tr!("+", "_")
p t.delete!("_")
p t.delete!("_")
p t.replace("new")
p t.clear
p t.empty?
u = +"x"
u << "y" << 122 << "é"
p u
p u.bytesize
p u.concat("1", "2")
p u.setbyte(0, 65)
p u
p u.prepend("p", "q")
p u.force_encoding("ASCII-8BIT").encoding.to_s
v = +"abc"
v.each_char { |c| v << c.upcase if v.size < 6 }
p v
w = +"aaa"
p w.sub!("a") { |m| m.upcase }
p w.gsub!(/a/) { $&.ord.to_s }
p w.next!
p w.succ!
x = +"tail"
p x.delete_prefix!("t"), x.delete_suffix!("z"), x.lstrip!, x.squeeze!("i")
