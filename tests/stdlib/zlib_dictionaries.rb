# Zlib: dictionaries, strategies, window sizes, copies, sync, blocks that get chunks, and a stream that two users share.
require "zlib"

def refused
  yield
rescue => e
  [e.class, e.message]
end
text = "the quick brown fox jumps over the lazy dog, " * 20
dictionary = "lazy dog, the quick brown fox jumps over"
deflate = Zlib::Deflate.new
p deflate.set_dictionary(dictionary) == dictionary, deflate.adler == Zlib.adler32(dictionary)
packed = deflate.deflate(text[0, 60], Zlib::FINISH)
p packed.bytesize < Zlib.deflate(text[0, 60]).bytesize
inflate = Zlib::Inflate.new
p refused { inflate.inflate(packed) }, inflate.adler == Zlib.adler32(dictionary), refused { inflate.set_dictionary("other") }
p inflate.set_dictionary(dictionary) == dictionary, inflate.inflate("") == text[0, 60]
inflate = Zlib::Inflate.new
inflate.add_dictionary("another")
inflate.add_dictionary(dictionary)
p inflate.inflate(packed) == text[0, 60]
inflate = Zlib::Inflate.new
inflate.add_dictionary("another")
p refused { inflate.inflate(packed) }, refused { Zlib::Inflate.new.set_dictionary("x") }
used = Zlib::Deflate.new
used << "x"
p refused { used.set_dictionary("x") }, refused { used.set_dictionary(nil) }

[Zlib::DEFAULT_STRATEGY, Zlib::FILTERED, Zlib::HUFFMAN_ONLY, Zlib::RLE, Zlib::FIXED].each do |strategy|
  [-15, -9, 9, 15, 25, 31].each do |bits|
    [1, 9].each do |memory|
      packed = Zlib::Deflate.new(6, bits, memory, strategy).deflate(text, Zlib::FINISH)
      p [strategy, bits, memory] unless Zlib::Inflate.new(bits).inflate(packed) == text
    end
  end
end
p Zlib::Deflate.new(9, 31, 8, Zlib::HUFFMAN_ONLY).deflate("a" * 500, Zlib::FINISH).bytesize > Zlib::Deflate.new(9, 31).deflate("a" * 500, Zlib::FINISH).bytesize
[[10], [-2], [6, 7], [6, 16], [6, 32], [6, 15, 0], [6, 15, 10], [6, 15, 8, 5], [6, 15, 8, -1], ["6"]].each { |arguments| p [arguments, refused { Zlib::Deflate.new(*arguments) }] }
[7, 16, 32, 48, 64].each { |bits| p [bits, refused { Zlib::Inflate.new(bits).class }] }

one = Zlib::Deflate.new
begun = one.deflate(text, Zlib::SYNC_FLUSH)
two = one.dup
p Zlib.inflate(begun + one.deflate("first", Zlib::FINISH)) == text + "first", Zlib.inflate(begun + two.deflate("second", Zlib::FINISH)) == text + "second"

changed = Zlib::Deflate.new(0)
changed << "stored "
changed.params(9, Zlib::DEFAULT_STRATEGY)
changed << "a" * 1000
p Zlib.inflate(changed.finish).size, refused { Zlib::Deflate.new.params(10, 0) }

whole = Zlib::Deflate.new
packed = whole.deflate("foo" * 1000, Zlib::FULL_FLUSH) + whole.deflate("bar" * 1000, Zlib::FINISH)
lost = Zlib::Inflate.new
p refused { lost << "\0" * 100 + packed }, lost.sync("")
lost = Zlib::Inflate.new
p lost.sync("\0" * 100), lost.sync_point?, refused { lost.sync(nil) }

zeros = Zlib.deflate("0" * 100_000)
sizes = []
p Zlib::Inflate.new.inflate(zeros) { |chunk| sizes << chunk.bytesize }, sizes
stream, sizes = Zlib::Inflate.new, []
stream.inflate(zeros) { |chunk| break sizes << chunk.bytesize }
p sizes, stream.inflate(nil).bytesize, stream.finished?
buffer = +"old"
p Zlib::Inflate.new.inflate(zeros, buffer: buffer).equal?(buffer), buffer.bytesize
sum = 0
p Zlib.deflate(Random.new(1).bytes(20_000)) { |chunk| sum += chunk.bytesize }, sum > 20_000
stream = Zlib::Deflate.new
4.times.map { Thread.new { 50.times { stream << "x" * 1000 } } }.each(&:join)
p Zlib.inflate(stream.finish).bytesize

stream = Zlib::Inflate.new
p stream.inflate(Zlib.deflate("abc") + "tail"), stream.finished?, stream.total_in, stream.inflate("more"), stream.inflate(nil), stream.flush_next_in
finished = Zlib::Deflate.new
finished.deflate("foo", Zlib::FINISH)
p refused { finished.deflate("x") }, refused { finished.deflate("x", Zlib::FINISH) }
closed = Zlib::Deflate.new
closed.close
p closed.closed?, refused { closed.finish }, refused { closed.adler }, refused { closed << "x" }, refused { closed.dup }
packed = Zlib.deflate(text)
p refused { Zlib.inflate("") }, refused { Zlib.inflate(packed[0..-2]) }, refused { Zlib.inflate(packed[0..-2] + "z") }, refused { Zlib.inflate("x\x9c\x07") }
p Zlib.crc32_combine(Zlib.crc32("ab"), Zlib.crc32("cde"), 3) == Zlib.crc32("abcde"), Zlib.adler32_combine(Zlib.adler32("ab"), Zlib.adler32("cde"), 3) == Zlib.adler32("abcde"), Zlib.crc_table.size, Zlib.crc_table[255]
