# Texts of many characters that come again, in encodings of two bytes a character.
japanese = "日本語のテキスト、かな漢字まじり。ｶﾅ ABC xyz " * 20
chinese = "汉字文本，重复的字。ABC xyz " * 20
korean = "한글 텍스트, 반복되는 글자. ABC xyz " * 20
texts = {"Shift_JIS" => japanese, "Windows-31J" => japanese, "EUC-JP" => japanese, "CP51932" => japanese, "GBK" => chinese, "GB18030" => chinese, "GB2312" => chinese, "Big5" => "繁體字文本，重複的字。ABC " * 20, "EUC-KR" => korean, "CP949" => korean}
texts.each do |name, text|
  there = text.encode(name)
  p [name, there.bytesize, there.bytes.sum, there.encode("UTF-8") == text, there.encode("UTF-16LE").encode("UTF-8") == text]
end

# Each character of two blocks, twice.
["Shift_JIS", "EUC-JP", "Windows-31J"].each do |name|
  all = [*0x3041..0x3093, *0x30a1..0x30f6, *0x4e00..0x51ff].map { [_1].pack("U") }
  known = all.select { |c| c.encode(name) rescue nil }
  text = (known + known.reverse + known).join
  there = text.encode(name)
  p [name, known.size, there.bytes.each_with_index.sum { |b, i| b * (i % 251) }, there.encode("UTF-8") == text]
end

# What fails behind them, and what stands in for it.
there = ("日本" * 30).encode("Shift_JIS")
[there.b + "\x82".b, there.b + "\x82\x20".b, there.b + "\x85\x9f".b, "\xff".b + there.b].each do |s|
  s.force_encoding("Shift_JIS")
  begin
    s.encode("UTF-8")
  rescue EncodingError => e
    puts "#{e.class}: #{e.message}"
  end
  p s.encode("UTF-8", invalid: :replace, undef: :replace).size
end
begin
  ("日本" * 30 + "€" + "日本").encode("Shift_JIS")
rescue EncodingError => e
  puts "#{e.class}: #{e.message}"
end
p ("日本" * 30 + "€" + "日本").encode("Shift_JIS", fallback: {"€" => "EUR"}).bytesize
p ("日本" * 30 + "〜" * 20 + "―" * 20).encode("EUC-JP").bytes.sum, ("日本" * 30 + "～" * 20).encode("Windows-31J").bytes.sum

# Signs of carriers among them.
signs = ("日本\u{e63e}" * 20).dup.force_encoding("UTF8-DoCoMo")
p signs.encode("SJIS-DoCoMo").bytes.sum, signs.encode("UTF8-KDDI").codepoints.uniq

# A converter keeps what it met from piece to piece.
converter = Encoding::Converter.new("Shift_JIS", "UTF-8")
out = +""
there.b.each_char.each_slice(3) { |piece| out << converter.convert(piece.join) }
p out == "日本" * 30

# Cases.
["Shift_JIS", "EUC-JP", "GBK"].each do |name|
  s = ("aB日本Cd" * 9).encode(name)
  p s.upcase.encode("UTF-8"), s.downcase.encode("UTF-8"), s.swapcase.encode("UTF-8"), s.capitalize.encode("UTF-8")
end
p "日aB".encode("Shift_JIS").capitalize.encode("UTF-8"), "アＡａイ".encode("Shift_JIS").swapcase.encode("UTF-8")

# Characters exchanged, squeezed, counted.
["Shift_JIS", "EUC-JP", "GBK"].each do |name|
  s = ("aB日日本Cd\\" * 5).encode(name)
  to = "本x".encode(name)
  p s.tr("日a".encode(name), to).encode("UTF-8"), s.tr_s("日本".encode(name), "月".encode(name)).encode("UTF-8"), s.delete("日a-c".encode(name)).encode("UTF-8")
  p s.count("日C".encode(name)), s.squeeze.encode("UTF-8").size, s.tr("^日".encode(name), "-").encode("UTF-8")
  broken = (s.b + "\xff".b).force_encoding(name)
  p((broken.tr("a", "z") rescue $!.class), broken.valid_encoding?)
end
