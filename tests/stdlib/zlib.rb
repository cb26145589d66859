require "zlib"
require "stringio"

def try = yield.inspect rescue "#{$!.class}: #{$!.message}"

text = "hello hello hello hello, " * 500 + (0..255).map(&:chr).join.b
# Packed bytes depend on the compressor; what comes out of them does not.
[nil, 0, 1, 6, 9].each { |level| p Zlib.inflate(Zlib.deflate(text.b, *level)) == text.b }
p Zlib.crc32("abc"), Zlib.crc32("c", Zlib.crc32("ab")), Zlib.adler32("abc"), Zlib.adler32("c", Zlib.adler32("ab")), Zlib.crc32, Zlib.adler32, Zlib.crc_table.sum
# A stream that the reference made.
p Zlib.inflate(["789ccb48cdc9c95728cf2fca49010019e90494"].pack("H*") + "") rescue p $!.class, $!.message
p Zlib.gunzip(["1f8b0800000000000003cb48cdc9c95728cf2fca4901008511"].pack("H*") + ["4a0d0b000000"].pack("H*"))
p try { Zlib.inflate("not zlib") }, try { Zlib.inflate(Zlib.deflate("abcdef")[0, 6]) }, try { Zlib.gunzip("no gzip at all") }
packed = Zlib.gzip("one\ntwo\nthree")
p try { Zlib.gunzip(packed[0..-9] + "\0" * 8) }, Zlib.gunzip(packed)
deflate = Zlib::Deflate.new
out = deflate.deflate("abc" * 10)
out << deflate.deflate("def") << deflate.finish
p Zlib::Inflate.inflate(out), deflate.finished?, deflate.total_in, deflate.adler == Zlib.adler32("abc" * 10 + "def")
inflate = Zlib::Inflate.new
p out.each_char.map { |c| inflate.inflate(c) }.join, inflate.finished?, inflate.close, inflate.closed?
raw = Zlib::Deflate.new(9, -15).deflate("raw bytes", Zlib::FINISH)
p Zlib::Inflate.new(-15).inflate(raw)
io = StringIO.new("".b)
gz = Zlib::GzipWriter.new(io)
gz.mtime = 1
gz.orig_name = "file.txt"
gz.puts "first", "zweite ä"
gz.print "third"
gz.finish
io.rewind
r = Zlib::GzipReader.new(io)
p r.orig_name, r.mtime.to_i, r.gets, r.lineno, r.getc, r.read(3), r.pos, r.read, r.eof?, r.read(1), r.gets
r.rewind
p r.each_line.to_a, r.close.class
