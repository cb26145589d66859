# The result of gsub takes the encoding of what a block gives, as long as there is nothing else.
wide = "\x30\x42\x30\x44".dup.force_encoding("UTF-16BE")
whole = "=?x?=".gsub(/=\?.*\?=/) { wide }
p whole.encoding, whole.encode("UTF-8")
japanese = "\e$B%F%9%H\e(B".dup.force_encoding("ISO-2022-JP")
p "word".sub(/word/) { japanese }.encode("UTF-8")
begin
  "a word".gsub(/word/) { wide }
rescue Encoding::CompatibilityError => e
  p e.message
end
p "latin".gsub(/a/) { "é".encode("ISO-8859-1") }.encoding
p "ab".gsub(/a/) { "".encode("UTF-16LE") }.encoding

require "date"
class Day < DateTime; end
p Day.now.class, Class.new(Date).today.class.superclass
