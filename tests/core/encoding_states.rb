# Encodings whose bytes mean what stands before them says: ISO-2022-JP, CP50220, CP50221, by String#encode, converters and streams; forms of others.
def t
  r = yield
  p(r.is_a?(String) ? [r.bytes.pack("C*").dump, r.encoding] : r)
rescue EncodingError => error
  puts "#{error.class}: #{error.message}"
end

names = %w[ISO-2022-JP CP50220 CP50221]
["\e(J!", "\xB1", "\e(I1", "\x0e\x31\x0f1", "\e$@!!", "\e$B\x2d\x21", "\e(A", "\e$(D\"/", "\e$B!", "\e$B!\x80", "\e$B\n", "\e", "\xFE"].each do |s|
  names.each { |n| t { s.dup.force_encoding(n).encode("UTF-8") } }
end
["\uff71", "a\u3042b", "\u3042\n\u3042", "\u9299", "\u2460", "\uff76\uff9e\uff73\uff9e\uff8a\uff9f", "\uff71\u3042\uff9e", "\u301c", "\u3042\uff76"].each do |s|
  [*names, "stateless-ISO-2022-JP", "CP51932"].each { |n| t { s.encode(n) } }
end
t { "\u3042\u{1f600}\u3044".encode("ISO-2022-JP", undef: :replace) }
t { "\u3042\u{1f600}\u3044".encode("ISO-2022-JP", undef: :replace, replace: "") }
t { "\u3042\u{1f600}\u3044".encode("ISO-2022-JP", xml: :text) }
t { "\e$B$\"\xff$$\e(B".dup.force_encoding("ISO-2022-JP").encode("EUC-JP", invalid: :replace) }
t { "\x92\xa4\xa2a".dup.force_encoding("stateless-ISO-2022-JP").encode("ISO-2022-JP") }
t { "\x92\xa4\xa2a".dup.force_encoding("stateless-ISO-2022-JP").chars.map(&:bytes) }

converter = Encoding::Converter.new("UTF-8", "CP50220")
t { converter.convert("\uff76") }
t { converter.convert("\uff9e") }
t { converter.finish }
p converter.convpath, Encoding::Converter.asciicompat_encoding("CP50221")
converter = Encoding::Converter.new("EUC-JP", "ISO-2022-JP")
converter.primitive_convert(+"\xa1\xa2", out = +"", nil, 10, partial_input: true)
converter.insert_output("\xA1\xA1".dup.force_encoding("EUC-JP"))
converter.primitive_convert(+"", out, nil, 10, partial_input: true)
p out.bytes

require "tmpdir"
Dir.mktmpdir do |dir|
  path = "#{dir}/text"
  File.open(path, "w:ISO-2022-JP") { |f| f.print "\u3042"; f.print "\u3044", "\u3046".encode("EUC-JP"); f.print "a" }
  p File.binread(path)
  File.open(path, "w:CP50220") { |f| f.sync = true; f << "\uff76"; f << "\uff9e" }
  p File.binread(path)
  File.open(path, "w:US-ASCII", xml: :attr) { |f| f.print "&<'\u3042"; f.print "\"x" }
  p File.read(path)
  File.open(path, "w", xml: :text) { |f| f.print "<\u3042"; f.print "'>" }
  p File.read(path)
end

# Forms of Unicode, EBCDIC, and characters of four bytes.
t { "\u{10000}a\u3042".encode("CESU-8") }
t { "\u{10000}a\u3042".encode("CESU-8").codepoints }
t { "\u{10000}a".encode("CESU-8").encode("UTF-8") == "\u{10000}a" }
t { ["\xED\xA0\x80", "\xED\xA0\x80\xED\xB0\x80", "\xF0\x90\x80\x80", "\xE0\x80\x80"].map { |s| s.dup.force_encoding("CESU-8").valid_encoding? } }
t { "\xED\xA0\x80".dup.force_encoding("CESU-8").encode("UTF-8") }
t { "Matz \u00fc".encode("IBM037") }
t { "\xD4\x81".dup.force_encoding("IBM037").encode("UTF-8") }
t { "\u3042".encode("IBM037") }
t { "\u060c\u00a2".encode("IBM864") }
t { "\x8e\xa2\xa1\xa1a\xa4\xa2".dup.force_encoding("EUC-TW").chars.map(&:bytes) }

p "a'\"".encode(xml: :attr), "a'\"".encode(xml: :text)
p Encoding::Converter.new("", "amp_escape").convert("&<'"), Encoding::Converter.new("", "xml_attr_quote").convpath
begin
  Encoding::Converter.new("UTF-8", "EUC-JP", cr_newline: true, crlf_newline: true)
rescue Encoding::ConverterNotFoundError => error
  puts error.message
end
begin
  "".encode("EUC-JP", replace: "\x80".dup.force_encoding("EUC-JP"))
rescue ArgumentError => error
  puts error.message
end
Encoding.default_internal = "EUC-JP"
t { "\u3042\u{1f600}\xff".encode }
