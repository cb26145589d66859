# Signs of Japanese carriers, and charsets that are kept as tables.
def try
  yield
rescue EncodingError => e
  [e.class.name, e.message]
end
def hex(s) = s.unpack1("H*")

sun = {"UTF8-DoCoMo" => "\u{E63E}", "UTF8-KDDI" => "\u{E488}", "UTF8-SoftBank" => "\u{E04A}", "UTF-8" => "\u{2600}"}
sun.each do |from, text|
  text = text.dup.force_encoding(from)
  puts "#{from}: " + (sun.keys - [from]).map { |to| hex(text.encode(to)) }.join(" ")
end

# Through Shift_JIS, and the mails of one of them.
docomo = "\xF8\x9F".dup.force_encoding("SJIS-DoCoMo")
p hex(docomo.encode("UTF8-DoCoMo")), hex(docomo.encode("SJIS-KDDI")), hex(docomo.encode("ISO-2022-JP-KDDI")), hex(docomo.encode("SJIS-SoftBank"))
mail = docomo.encode("ISO-2022-JP-KDDI")
p hex(mail.encode("stateless-ISO-2022-JP-KDDI")), hex(mail.encode("UTF-8")), hex("aあ\u2600z".encode("ISO-2022-JP-KDDI"))

# What the other has not.
only = "\u{E6A0}".dup.force_encoding("UTF8-DoCoMo")
p try { only.encode("UTF8-KDDI") }, try { only.encode("SJIS-KDDI") }, try { only.encode("Shift_JIS") }
p hex(only.encode("UTF8-KDDI", undef: :replace, replace: "?"))
p Encoding::Converter.search_convpath("SJIS-KDDI", "ISO-2022-JP-KDDI").map { |a, b| "#{a.name}>#{b.name}" }
p Encoding::Converter.search_convpath("UTF-16BE", "SJIS-DoCoMo").map { |a, b| "#{a.name}>#{b.name}" }

# One sign here is two there.
p "\u{1F1EF}".encode("UTF8-KDDI").codepoints.size rescue p $!.class

# Tables.
["EUC-JIS-2004", "Big5-UAO", "Big5-HKSCS", "Big5", "GBK", "GB2312", "GB18030", "eucJP-ms"].each do |name|
  texts = %w[\u3000 ゟ ≢ 丗 中 文 ① é 凜]
  puts "#{name}: " + texts.map { |t| t = eval(%("#{t}")); try { hex(t.encode(name)) }.then { |r| r.is_a?(Array) ? "-" : r } }.join(" ")
end
p hex("\xA2\xB9".dup.force_encoding("EUC-JIS-2004").encode("UTF-8")), "\u{80}".encode("GB18030").b, "\u{1e3f}".encode("GB18030").b
p try { "\xA2\xA0".dup.force_encoding("GBK").encode("UTF-8") }, try { "\xA3\xC0".dup.force_encoding("Big5").encode("UTF-8") }
p "\u{e000}\u{e3ac}".encode("eucJP-ms").b, "\xF5\xA1".dup.force_encoding("eucJP-ms").encode("UTF-8")

# Places of no character.
p hex("\xFD\xA1".dup.force_encoding("EUC-JP").encode("Shift_JIS")), hex("\xEF\xFC".dup.force_encoding("Shift_JIS").encode("EUC-JP"))
p hex("\e$B~~\e(B".dup.force_encoding("ISO-2022-JP").encode("stateless-ISO-2022-JP"))

# Letters of two bytes have cases.
p Regexp.new("ABC\uff41".encode("EUC-JP"), Regexp::IGNORECASE).match?("abc\uFF21".encode("EUC-JP"))
p Regexp.new("я[α-ω]".encode("Shift_JIS"), Regexp::IGNORECASE).match?("ЯΩ".encode("Shift_JIS"))
