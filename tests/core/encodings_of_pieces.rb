# Which encodings go together, where only a piece of a text matters; texts of UTF-16.
def try
  r = yield
  r.is_a?(String) ? [r.encoding.name, r.b] : r
rescue StandardError => e
  [e.class.name, e.message]
end
b = "\x80".b
p try { b.sub(Regexp.new("\x80".b), "\u0080") }, try { ("a" + b + "b").sub("\x80".b, "é") }, try { (b + b).sub("\x80".b, "é") }
p try { (b + b).gsub("\x80".b, "é") }, try { (b + "\x81".b).gsub("\x80".b, "é") }
s = "abcd".dup.force_encoding("UTF-16BE")
p try { s.gsub(Regexp.new(".".encode("UTF-16BE")), "xy") }, try { "a#{s}" }, try { "#{s}" }
p try { "\x81a".dup.force_encoding("Windows-31J").tr("", "\x81".dup.force_encoding("Windows-31J")) }
p try { "".scan("\xA1".dup.force_encoding("EUC-JP")) }, try { "".split("\xA1".dup.force_encoding("EUC-JP")) }
p try { "".b.slice!("".dup.force_encoding("EUC-JP")) }
p try { t = +"é"; t[5] = "\xA4\xA2".dup.force_encoding("EUC-JP") }, try { t = +"é"; t[5] = "x" }
p " ab  cd ".encode("UTF-16BE").split(" ".encode("UTF-16BE")).map { |x| x.encode("UTF-8") }, " ab\tcd ".encode("UTF-32LE").split.map { |x| x.encode("UTF-8") }
%w[UTF-16LE UTF-16BE UTF-32LE].each do |e|
  p ["abc\n", "abc\r\n", "abc\n\n", "abc\r"].map { |t| [t.encode(e).chomp.encode("UTF-8"), t.encode(e).chomp("".encode(e)).encode("UTF-8"), t.encode(e).chomp("\n".encode("UTF-16LE")).encode("UTF-8")] }
end
p "f\0\n".dup.force_encoding("UTF-16LE").chomp.b
p Regexp.new("a.\u3042".encode("UTF-16LE")).to_s.then { |r| [r.encoding, r.encode("UTF-8")] }
q = Regexp.escape("\0*".dup.force_encoding("UTF-16BE"))
p q.b, Regexp.new(q).match?("\0*".dup.force_encoding("UTF-16BE"))
p try { Time.at(0).strftime("aa".dup.force_encoding("UTF-16BE")) }, try { 1.0.round(half: "up".dup.force_encoding("UTF-16BE")) }
p sprintf("%c".encode("US-ASCII"), 0x80).encoding, try { sprintf("%.*99999999999999999999$d", 1) }, try { sprintf("%*99999999999999999999$d", 1) }
p "#86)CX\r\n#9&5FX\r\n".unpack("u"), "#86)C\n#9&5F\n".unpack("u")
p "5/3.3".to_r, "1/3e2".to_r, "1.5/0.5e-1x".to_r, Rational("1e-99999999999999999999"), (Rational("1e99999999999999999999") rescue $!.class)
p 3.fdiv(0x20_0000_0000_0001), 1.remainder(3)
begin
  "abc\xa4".dup.force_encoding("EUC-JP").encode("UTF-8")
rescue => e
  p e.readagain_bytes, e.incomplete_input?
end
c = Encoding::Converter.new("", "")
src, dst = +"abcdefg", +""
p c.primitive_convert(src, dst, nil, 2), src, dst
c = Encoding::Converter.new("UTF-16BE", "UTF-8")
p c.primitive_convert(+"\xd8\x00\x02".b, +"", nil, 50, partial_input: true)
