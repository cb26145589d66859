# An inflating stream is copied in the middle of its work, with its dictionaries and what waits in it. A stream does not travel and is not forked.
require "zlib"

text = "the quick brown fox jumps over the lazy dog, " * 20
packed = Zlib.deflate(text)
one = Zlib::Inflate.new
head = one.inflate(packed[0, 30])
two = one.dup
p [one, two].map { |stream| head + stream.inflate(packed[30..]) == text }
fresh = Zlib::Inflate.new.dup
p fresh.inflate(packed) == text, one.dup.finished?
one = Zlib::Inflate.new
one.add_dictionary("lazy dog")
two = one.dup
with = Zlib::Deflate.new.tap { |deflate| deflate.set_dictionary("lazy dog") }.deflate(text, Zlib::FINISH)
p two.inflate(with) == text
begin
  RubyVM::Channel.new << two
rescue => e
  p e.class
end
p RubyVM.fork { two.finished? rescue $!.class.name }.value
z = Zlib::Deflate.new
begin
  z.deflate(Random.new(1).bytes(100_000)) { z.deflate("x") }
rescue => e
  p e.class
end
