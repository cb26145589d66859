# ARGF: several files as one stream, $stdin among them, and more than one ARGF.
require "tmpdir"

Dir.mktmpdir do |dir|
  a, b, empty = %w[a b empty].map { |name| File.join(dir, name) }
  File.write(a, "a1\na2\n")
  File.write(b, "b1\nb2")
  File.write(empty, "")

  ARGV.replace([a, empty, b])
  seen = []
  while ARGF.gets
    seen << [File.basename(ARGF.filename), ARGF.lineno, $., $_, ARGF.eof?]
  end
  p seen
  p ARGF.gets, ARGF.argv, File.basename($FILENAME)

  ARGV.replace([a, b])
  p ARGF.read(4), ARGF.read(3), ARGF.read, ARGF.read(1)

  many = ARGF.class.new(a, b)
  p many.each_char.to_a.join, many.inspect
  p ARGF.class.new(a, b).each_line(chomp: true).to_a
  p ARGF.class.new(b, a).each_byte.first(4)
  p ARGF.class.new(a, b).readlines("1")

  one = ARGF.class.new(a, b)
  p one.readline, one.pos, one.rewind, one.gets, one.lineno
  one.skip
  p one.gets, one.gets, one.gets
  p((one.readline rescue [$!.class, $!.message]))
  p((one.pos rescue [$!.class, $!.message]), (one.readchar rescue $!.class))

  partial = ARGF.class.new(a, b)
  p partial.readpartial(100), partial.readpartial(100), partial.readpartial(100)
  p((partial.readpartial(1) rescue $!.class))

  closed = ARGF.class.new(a, b)
  io = closed.to_io
  p closed.close.equal?(closed), io.closed?, closed.gets

  missing = ARGF.class.new(File.join(dir, "none"), a)
  p((missing.gets rescue $!.class), missing.gets)

  encoded = ARGF.class.new(a, b)
  encoded.set_encoding("iso-8859-1:utf-8")
  p encoded.external_encoding, encoded.internal_encoding, encoded.gets.encoding
  binary = ARGF.class.new(a, b).binmode
  p binary.binmode?, binary.read.encoding.name

  edited = ARGF.class.new(a)
  edited.inplace_mode = ".old"
  while (line = edited.gets)
    puts line.upcase
  end
  puts "more"
  $stdout.flush
  $stdout = STDOUT
  p File.read(a), File.read(a + ".old")
end
# Needs the standard library.
