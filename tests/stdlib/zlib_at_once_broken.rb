# What is wrong with texts that are unpacked at once.
require "zlib"

def told
  yield
rescue => e
  [e.class, e.message]
end
packed, body = Zlib.deflate("content" * 50), Zlib.gzip("content" * 50)
p told { Zlib.inflate("") }, told { Zlib.inflate(packed[0..-2]) }, told { Zlib.inflate(packed[0, 10]) }, told { Zlib.inflate("garbage") }
p told { Zlib.inflate(packed.dup.tap { |s| s.setbyte(-1, s.getbyte(-1) ^ 1) }) }
p told { Zlib.gunzip("") }, told { Zlib.gunzip("abc") }, told { Zlib.gunzip("x" * 30) }
p told { Zlib.gunzip(body.dup.tap { |s| s.setbyte(-1, 9) }) }, told { Zlib.gunzip(body.dup.tap { |s| s.setbyte(-8, s.getbyte(-8) ^ 1) }) }
p told { Zlib.gunzip(body.dup.tap { |s| s.setbyte(2, 7) }) }
[2, 32, 64, 1].each { |flags| p told { Zlib.gunzip(body.dup.tap { |s| s.setbyte(3, flags) }).size } }
p told { Zlib.gunzip(body[0..-4]) }, told { Zlib.gunzip(body[0..-9]) }, told { Zlib.gunzip(body[0, 14]) }, told { Zlib.gunzip(body[0, 10]) }
# A stream that needs a dictionary, and one that works on afterwards.
stream = Zlib::Deflate.new
stream.set_dictionary("content")
with = stream.deflate("content content", Zlib::FINISH)
p told { Zlib.inflate(with) }, Zlib.inflate(packed).size, Zlib.gunzip(body).size
