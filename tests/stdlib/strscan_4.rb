require "strscan"

# What 3.1 lacks.
def try = yield.inspect rescue "#{$!.class}: #{$!.message}"

s = StringScanner.new("key: value; 42,-0x1F,99999999999999999999")
p s.scan("key"), s.matched, s.skip(": "), s.scan_until(";"), s.pre_match, s.check("x"), s.peek_byte, s.scan_byte, s.scan_integer, s.matched, s.getch
p s.scan_integer(base: 16), s.skip(","), s.scan_integer, s.scan_integer, s.matched?
p try { s.scan_integer(base: 8) }, try { StringScanner.new("1".encode("UTF-16LE")).scan_integer }
s = StringScanner.new("ab")
s.scan(/(?<x>a)(?<y>z)?/)
p s.named_captures, s.captures, try { s[:z] }
s.scan("b")
p try { s[:x] }, s.named_captures
p StringScanner.new("é1").tap { |t| t.scan("é") }.scan_integer
