# Streams of gzip files: bit widths above 15, in pieces, with bad and missing ends.
require "zlib"

text = "pomegranate " * 300
gzip = Zlib.gzip(text)
plain = Zlib.deflate(text)

def outcome
  yield
rescue Zlib::Error => e
  "#{e.class}: #{e.message}"
end

[[31, gzip], [47, gzip], [47, plain], [15, plain]].each do |bits, data|
  stream = Zlib::Inflate.new(bits)
  whole = data.each_char.map { |c| stream.inflate(c) }.join
  p [bits, whole == text, stream.finished?, stream.total_in == data.bytesize, stream.total_out, outcome { stream.finish }]
end

half = Zlib::Inflate.new(47)
half.inflate(gzip[0, gzip.size - 3])
p half.finished?, outcome { half.finish }

bad = gzip.dup
bad.setbyte(-1, bad.getbyte(-1) ^ 1)
p outcome { Zlib::Inflate.new(47).inflate(bad) }
bad = gzip.dup
bad.setbyte(-5, bad.getbyte(-5) ^ 1)
p outcome { Zlib::Inflate.new(31).inflate(bad) }
p outcome { Zlib::Inflate.new(31).inflate(plain) }
p outcome { Zlib::Inflate.new(15).inflate(gzip) }

out = Zlib::Deflate.new(6, 31)
made = out.deflate(text) << out.finish
p made.getbyte(0), made.getbyte(1), Zlib.gunzip(made) == text, out.total_out == made.bytesize, out.adler == Zlib.crc32(text)
p outcome { Zlib::Inflate.new(99) }, outcome { Zlib::Deflate.new(6, 99) }

# An IO whose write takes one argument, and one that gives up in the middle: what it did not get comes at the end.
class Sink
  attr_reader :parts
  def initialize(fail_at = nil) = (@parts, @fail_at = [], fail_at)
  def write(part)
    @parts << part
    raise IOError, "gone" if @parts.size == @fail_at
    part.bytesize
  end
end

sink = Sink.new
writer = Zlib::GzipWriter.new(sink)
writer.write("one ")
writer.flush
writer.write("two")
writer.finish
p Zlib.gunzip(sink.parts.join)

sink = Sink.new(1)
writer = Zlib::GzipWriter.new(sink)
begin
  writer.write("kept")
rescue IOError => e
  p e.message
end
writer.finish
p Zlib.gunzip(sink.parts.join)
