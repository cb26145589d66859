# Streams that were closed are used again: nothing of what they were shows in the next one.
require "zlib"

text = "abcabcabc " * 20
plain = Zlib.deflate(text)

# With a dictionary.
one = Zlib::Deflate.new
one.set_dictionary(text)
one << text
one.finish
p one.close
p Zlib.deflate(text) == plain

# With other settings.
two = Zlib::Deflate.new
two << text
two.params(0, Zlib::DEFAULT_STRATEGY)
two << text
p Zlib.inflate(two.finish) == text * 2
two.close
p Zlib.deflate(text) == plain
p Zlib.inflate(Zlib.deflate(text, 0)) == text, Zlib.deflate(text, 9) == Zlib::Deflate.new(9).deflate(text, Zlib::FINISH)

# Closed in the middle of their work.
three = Zlib::Deflate.new
three.deflate(text)
three.close
p Zlib.deflate(text) == plain
four = Zlib::Inflate.new
four.inflate(plain[0, 8])
four.close
p Zlib.inflate(plain) == text

# What is closed stays closed.
[three, four].each do |z|
  [:total_in, :finish, :reset, :close].each do |name|
    z.__send__(name)
  rescue => e
    puts "#{z.class}##{name}: #{e.class}: #{e.message}"
  end
end

# Broken data.
2.times do
  Zlib.inflate(plain[0, 10] + "xxxx" * 10)
rescue => e
  p e.class
  p Zlib.inflate(plain) == text
end

# Copies have their own.
a = Zlib::Deflate.new
head = a.deflate(text, Zlib::SYNC_FLUSH)
b = a.dup
first = a.finish
a.close
c = Zlib::Deflate.new
c << "other"
p b.finish == first, Zlib.inflate(head + first) == text, Zlib.inflate(c.finish)
[b, c].each(&:close)

# Much comes of little.
p Zlib.inflate(Zlib.deflate("x" * 1_000_000)).size, Zlib.gunzip(Zlib.gzip("y" * 300_000)).size
p Zlib.inflate(Zlib.deflate("")), Zlib.gunzip(Zlib.gzip(""))

# Several at once.
p 4.times.map { |i| Thread.new { 50.times.all? { |j| t = "#{i} #{j} " * j; Zlib.inflate(Zlib.deflate(t, j % 10)) == t } } }.map(&:value)
GC.start
GC.start
p Zlib.deflate(text) == plain

# Of gzip files: what was read to its end, and what was written.
require "stringio"
out = StringIO.new("".b)
2.times { |i| Zlib::GzipWriter.wrap(out) { |gz| gz << "file #{i}\n" * 3; gz.finish } }
out.rewind
r = Zlib::GzipReader.new(out)
p r.read, r.eof?, r.read, r.read(1), r.unused&.bytesize
r.rewind
p r.gets, r.read, Zlib.deflate(text) == plain
out.rewind
puts Zlib::GzipReader.zcat(out)

puts "-- no text"
deflate = Zlib::Deflate.new
[-> { Zlib.deflate(Object.new) }, -> { Zlib.inflate(1) }, -> { deflate.deflate(:a) }, -> { deflate << 1.5 }, -> { Zlib::Inflate.new << Object.new }].each do |given|
  p given.call
rescue TypeError => e
  puts e.message
end
text = Object.new
def text.to_str = "text"
p Zlib.inflate(Zlib.deflate(text))
