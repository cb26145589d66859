# Limits of converted lines count what is read, over many buffers, and end at whole characters.
require "tempfile"
text = Tempfile.new("euc")
text.binmode
letter = "\u3042".encode("EUC-JP").b
text.write(letter * 2_000_000, "\n", "ab" + letter * 3, "\n")
text.close
read = ->(limit) { File.open(text.path, "r:euc-jp:utf-8") { |f| [f.gets(limit)&.bytesize, f.gets(limit)&.bytesize, f.pos] } }
[1, 2, 3, 4, 8_191, 8_192, 100_000, 3_000_001, 6_000_000, 6_000_001, 6_000_002, 1 << 30].each { |limit| p [limit, *read.(limit)] }
File.open(text.path, "r:euc-jp:utf-8") { |f| f.gets; p f.gets(4), f.gets(4), f.gets(100), f.gets(100) }
