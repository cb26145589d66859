# What IO.copy_stream asks objects for and gives them.
class Reader
  def initialize(*parts) = @parts = parts
  def readpartial(n, buffer)
    p [:readpartial, n, buffer.size, @last.nil? || @last.equal?(buffer)]
    @last = buffer
    buffer.replace(@parts.shift || raise(EOFError))
  end
end
class Whole
  def initialize(*parts) = @parts = parts
  def read(n, buffer)
    p [:read, n, buffer.size]
    (part = @parts.shift) && buffer.replace(part)
  end
end
class Writer
  def write(s)
    p [:write, s.size]
    s.size
  end
end
p IO.copy_stream(Reader.new("a" * 10, "b" * 20), Writer.new)
p IO.copy_stream(Whole.new("a" * 16384, "b" * 20), Writer.new)
p IO.copy_stream(Whole.new("a" * 16384, "b" * 16384), Writer.new, 20_000 + 12_768)
p IO.copy_stream(Reader.new("a" * 100), File::NULL)
require "tempfile"
Tempfile.create do |f|
  f.write("x" * 40_000)
  f.flush
  f.rewind
  p IO.copy_stream(f, Writer.new)
  f.rewind
  p IO.copy_stream(f, Writer.new, 16_385)
  p IO.copy_stream(f.path, Writer.new, 10, 39_995)
end
# A reader that keeps what it was given, and writes to it later.
class Keeper
  def initialize = @n = 0
  def read(n, into)
    @kept&.replace("gone")
    return if (@n += 1) > 3
    @kept = into.replace(@n.to_s * 5000)
  end
end
require "stringio"
out = StringIO.new
p IO.copy_stream(Keeper.new, out), out.string.squeeze
Tempfile.create do |f|
  f.write("buffered ")
  p IO.copy_stream(Keeper.new, f)
  f.sync = true
  f << "" << "x" * 100_000 << "y"
  f.rewind
  p f.read.squeeze, f.size
end
r, w = IO.pipe
w.sync = true
r.close
p((w.write("a" * 100) rescue $!.class), (w.write("") rescue $!.class), w.close)
