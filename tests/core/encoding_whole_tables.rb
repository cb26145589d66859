# Characters through the tables of legacy encodings and back: one in a few of all, those that are beside each other, and bytes that are no characters.

def mixed(texts) = texts.inject(7) { |n, t| (n * 31 + t.sum(32)) % 1_000_000_007 }
def encoded(c, e)
  [c].pack("U").encode(e).b
rescue EncodingError => error
  error.class.name
end
def decoded(bytes, e)
  bytes.pack("C*").force_encoding(e).encode("UTF-8")
rescue EncodingError => error
  error.class.name
end

chars = (0x80..0xffff).step(29).to_a + [0xa5, 0x203e, 0x2212, 0xff0d, 0x2015, 0x2014, 0x301c, 0xff5e, 0x80, 0xe000, 0xe757, 0x3042, 0x30a2, 0xff71, 0x4e00, 0x9fa5, 0xac00, 0xd7a3, 0xfffd, 0x1f600]
chars.reject! { 0xd800 <= it && it <= 0xdfff }
pairs = (0x80..0xff).map { [it] } + (0x80..0xff).step(3).flat_map { |a| (0x30..0xff).step(7).map { |b| [a, b] } } + [[0x8e, 0xb1], [0x8f, 0xb0, 0xa1], [0x81, 0x30, 0x81, 0x30]]
%w[Shift_JIS Windows-31J EUC-JP GBK GB2312 GB18030 EUC-KR Windows-1252 Windows-1251 KOI8-R ISO-8859-7 ISO-8859-15 IBM437 macCroatian IBM037 TIS-620].each do |e|
  there = chars.map { encoded(it, e) }
  back = pairs.map { decoded(it, e) }
  valid = pairs.count { it.pack("C*").force_encoding(e).valid_encoding? }
  puts "#{e}: #{there.count { it !~ /Error/n }} #{mixed(there)}, #{back.count { it !~ /Error/ }} #{mixed(back)}, #{valid}"
end
text = "日本語、漢字とカナ。ｱｲｳ abc—" * 40
%w[Shift_JIS EUC-JP Windows-31J].each do |e|
  s = text.tr("—", "-").encode(e)
  p s.bytesize, s.valid_encoding?, s.size, s.encode("UTF-8") == text.tr("—", "-"), (s + "\x82".dup.force_encoding(e)).valid_encoding?, s.byteslice(1..).force_encoding(e).valid_encoding?
end
p "é€ž".encode("Windows-1252").bytes, "жЯ".encode("Windows-1251").bytes, ("x€" * 500).encode("ISO-8859-15").bytes.tally, (begin "é中".encode("Windows-1252") rescue $!.message end)
p "é中".encode("Windows-1252", undef: :replace), "中é".encode("Big5", undef: :replace, replace: "-").bytes, "한국어".encode("EUC-KR").bytes, "한국어".encode("EUC-KR").encode("UTF-8")
