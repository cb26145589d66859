# A token of a text with bytes that are no ASCII costs the same wherever it stands.
require "strscan"
["\xffab ".b, "é日 ", "\xa4\xa2x ".dup.force_encoding("EUC-JP")].each do |part|
  s = StringScanner.new(part * 40_000)
  tokens = 0
  tokens += 1 while s.scan(/[^ ]+/) && s.skip(/ /)
  p tokens
end
s = StringScanner.new("é" * 20_000)
n = 0
n += 1 while s.get_byte
p n
