# Whole texts at once: Zlib.deflate, inflate, gzip and gunzip make no stream object that a program could see, and say of what is broken what a reader says.
require "zlib"
require "stringio"

def told
  yield
rescue => e
  [e.class, e.message]
end

class Zlib::Deflate
  def initialize(*) = raise("nobody asked")
end
class Zlib::Inflate
  def initialize(*) = raise("nobody asked")
end
texts = ["", "a", "abc" * 1000, (0..255).map(&:chr).join.b * 2000, "ä" * 70_000]
texts.each do |text|
  packed = Zlib.deflate(text)
  p Zlib::Deflate.deflate(text, 9).bytesize <= Zlib::Deflate.deflate(text, 0).bytesize + 20, Zlib.inflate(packed) == text.b, Zlib.gunzip(Zlib.gzip(text)) == text.b
  p [packed, Zlib.inflate(packed), Zlib.gzip(text), Zlib.gunzip(Zlib.gzip(text))].map(&:encoding).uniq
end

puts "-- levels and strategies"
p Zlib.gzip("x", level: 9)[8].ord, Zlib.gzip("x", level: 1)[8].ord, Zlib.gzip("x", level: nil, strategy: nil)[8, 2].bytes, (Time.now.to_i - Zlib.gzip("x")[4, 4].unpack1("V")).between?(0, 60)
p Zlib.gzip("aaaaaaaaaaaaaaaaaaaab", strategy: Zlib::HUFFMAN_ONLY).bytesize, Zlib.gzip("aaaaaaaaaaaaaaaaaaaab", level: 0).bytesize
p Zlib.deflate("aaaaaaaaaaaaaaaaaaaab", nil) == Zlib.deflate("aaaaaaaaaaaaaaaaaaaab"), Zlib.deflate("a", Zlib::NO_COMPRESSION).bytesize
p told { Zlib.deflate("a", 10) }, told { Zlib.deflate("a", "1") }, told { Zlib.gzip("a", level: 77) }, told { Zlib.gzip("a", level: "z") }, told { Zlib.gzip("a", strategy: 9) }
p told { Zlib.gzip(nil) }, told { Zlib.deflate(nil) }, told { Zlib.inflate(nil) }, told { Zlib.gunzip(nil) }

puts "-- headers"
body = Zlib.gzip("content")
raw, foot = body[10..-9], body[-8..]
head = ->(flags) { [0x1f, 0x8b, 8, flags, 0, 0, 3].pack("CCCCVCC") }
p Zlib.gunzip(head[0] + raw + foot), Zlib.gunzip(head[8] + "name\0" + raw + foot), Zlib.gunzip(head[16] + "comment\0" + raw + foot)
p Zlib.gunzip(head[4] + "\5\0extra" + raw + foot), Zlib.gunzip(head[4 + 8 + 16] + "\0\0n\0c\0" + raw + foot)
p Zlib.gunzip(body + "trailing"), Zlib.gunzip(body + body)
text = "frozen".freeze
p Zlib.gunzip(Zlib.gzip(text)), text.frozen?, Zlib.gunzip(Class.new(String).new(body)).class

puts "-- large"
large = Random.new(5).bytes(300_000) + "z" * 3_000_000
p Zlib.inflate(Zlib.deflate(large)) == large, Zlib.gunzip(Zlib.gzip(large)) == large, Zlib.gunzip(Zlib.gzip(large, level: 1)).hash == large.hash
