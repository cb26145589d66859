# A text of several parts begins in the encoding of the first.
euc = "b".encode("EUC-JP")
sjis = "d".encode("Shift_JIS")
ascii = "y".encode("US-ASCII")
hiragana = "\u3042".encode("EUC-JP")
empty = "".encode("EUC-JP")
p ["#{1}", "#{euc}", "#{1}#{2}", "#{1}c", "c#{euc}", "#{euc}c", "#{ascii}c", "#{1}#{euc}c", "#{euc}#{sjis}", "#{sjis}#{euc}"].map(&:encoding)
p ["#{empty}c", "#{empty}#{hiragana}", "#{empty}\u3042", "#{euc}\u3042", "c#{hiragana}", "#{"z".b}\u3042", "#{:a}#{nil}"].map(&:encoding)

def in_ascii(text) = eval("# encoding: US-ASCII\n#{text}")
p in_ascii('"a#{"b".encode("EUC-JP")}c"').encoding
p in_ascii('/a#{"\x80"}/').encoding, in_ascii('/#{%q"\x80"}/').encoding, in_ascii('/a#{%q"\x80"}/').encoding, in_ascii('/\x80#{"a"}/').encoding

def t
  r = yield
  p r
rescue SyntaxError => error
  puts "SyntaxError"
rescue => error
  puts "#{error.class}: #{error.message}"
end
# A character does not go on behind the end of a part.
t { eval('/\xa4#{}\xa2/e') }
t { eval('/#{}\xa4/e') }
t { eval('/\xc2#{}/') }
t { eval('/\xa4\xa2#{}/e').encoding }
t { a, b = '\xc2', '\xa1'; /#{a}#{b}/ }
t { a, b = '\xc2'.b, '\xa1'.b; /#{a}#{b}/.encoding }
t { eval("/\xc2\xa1\\u{6666}/".b) }
t { eval("/\\u{6666}\xc2\xa1/".dup.force_encoding("EUC-JP")) }

# What inspect shows as it is.
[["EUC-JP", "\xa4\xa2\xa1"], ["Shift_JIS", "\x83\x41"], ["ISO-8859-1", "\xe9\x80"]].each do |name, bytes|
  text = bytes.dup.force_encoding(name)
  Encoding.default_external = name
  p text.inspect.bytes, text.inspect.encoding, text.to_sym.inspect.bytes, { text.to_sym => 1 }.inspect.bytes if text.valid_encoding?
  Encoding.default_external = "UTF-8"
  puts text.inspect
end
Encoding.default_external = "Windows-31J"
p({ "\x87]".dup.force_encoding("Windows-31J").to_sym => 1 }.inspect.bytes)
