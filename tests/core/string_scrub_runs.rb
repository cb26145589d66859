# Broken sequences at every place: at the ends, one behind the other, cut off, among long runs of what is whole.
broken = ["\xff", "\xe3\x81", "\xf0\x9f\x98", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe3", "\xe3\x81\xe3\x81\x82", "\xf0\x9fa", "\xc3\xc3\xa9"]
broken.each do |b|
  ["", "a", "é", "😀" * 40, "x" * 100].each do |around|
    s = around + b + around + b
    p [s.scrub("?"), s.scrub { |x| "<#{x.unpack1("H*")}>" }, s.scrub == s.dup.scrub!] if around.size < 10
    puts s.scrub("?").unpack1("H*").sum if around.size > 10
  end
end
long = ("あ" * 30_000 + "\xe3\x81") * 3
p long.scrub("").size, long.scrub.count("\u{fffd}"), long.scrub { |x| x.bytesize.to_s }.count("2"), long.scrub.valid_encoding?
["\x82\xa0\x82".dup.force_encoding("Shift_JIS"), "\xa4\xa2\xa4".dup.force_encoding("EUC-JP"), "\xff\x41".dup.force_encoding("US-ASCII"), "\xd8\x00\x00A\xd8".dup.force_encoding("UTF-16BE"), "\x00\xd8A\x00A".dup.force_encoding("UTF-16LE"), "\x00\x11\x00\x00\x00".dup.force_encoding("UTF-32BE"), "\x81\x30\x81".dup.force_encoding("GB18030")].each do |s|
  p s.scrub, s.scrub.encoding, s.scrub { |x| "!".encode(x.encoding) }
end
p "abc".scrub, "\xff".b.scrub, "\xff".scrub(""), "a\xffb".scrub("ü")
[-> { "\xff".scrub("\xfe") }, -> { "\xff".scrub("é".encode("UTF-16LE")) }, -> { "\xff".scrub { 1 } }, -> { "\xff".freeze.scrub! }, -> { "\xff".scrub("a") { "b" } }].each do |f|
  p f.call
rescue => e
  puts "#{e.class}: #{e.message}"
end
s = +"a\xffb\xff"
begin
  s.scrub { s << "c"; "?" }
rescue => e
  puts "#{e.class}: #{e.message}"
end
