# Lines of UTF-16 and UTF-32: `$/` is written in the stream's encoding, other separators have to be.
require "stringio"

%w[UTF-16LE UTF-16BE UTF-32LE UTF-32BE].each do |encoding|
  stream = StringIO.new("line1\nline2\n\u{a00}x\n".encode(encoding))
  p stream.gets, stream.gets("2".encode(encoding)), stream.gets(chomp: true), stream.readlines, stream.gets
  stream.rewind
  p stream.each_line(chomp: true).to_a.map { |line| line.encode("UTF-8") }
  stream.rewind
  p (stream.gets("2") rescue $!), stream.gets($/), stream.gets(nil).bytesize
end
p (StringIO.new("a\u3042b").gets("\u3042".encode("EUC-JP")) rescue $!), StringIO.new("a,b").gets(",".encode("EUC-JP"))

# A literal keeps its encoding.
$VERBOSE = true
literal, other = "abc", "abc".dup
p [literal, other].map { |text| StringIO.new(text).set_encoding("EUC-JP").then { |stream| [text.encoding, stream.read.encoding] } }
