# Lines of UTF-16, converted and not.
require "tmpdir"
Dir.mktmpdir do |dir|
  f = File.join(dir, "wide")
  File.binwrite(f, "\uFEFFa\u0a0a\u000a\nb\r\n\u{1f600}c\n\nlast".encode("utf-16le"))
  ["rb:utf-16le:utf-8", "rb:bom|utf-16le:utf-8", "rb:utf-16le", "r:utf-16le:utf-8"].each { |m|
    p m, File.open(f, m) { |io| io.each_line.to_a }
    p File.open(f, m) { |io| io.each_line(chomp: true).to_a }
    p File.open(f, m) { |io| io.each_char.to_a.size }
    p File.open(f, m) { |io| [io.gets, io.lineno, io.getc, io.read, io.eof?] }
  }
  p File.readlines(f, mode: "rb:bom|utf-16le:utf-8", chomp: true)
  p File.foreach(f, encoding: "utf-16le:utf-8").to_a.size
  File.open(f, "w:utf-16be") { |io| io.puts "a", "b"; io.print "c" }
  p File.binread(f)
  p 0.123456789876r
end
# Needs the standard library.
