require "stringio"

def try = yield.inspect rescue "#{$!.class}: #{$!.message}"

# Modes and closed halves.
%w[r w a r+ w+ a+ rb w:utf-8].each do |mode|
  io = StringIO.new(+"hello", mode)
  puts [mode, io.string, try { io.read(2) }, try { io.write("X") }, io.string, io.pos].inspect
end
puts try { StringIO.new("x".freeze, "w") }
puts try { StringIO.new("x", "q") }
puts try { StringIO.new("x".freeze).write("y") }
io = StringIO.new(+"abc")
io.close_read
puts try { io.read }, try { io.write("Z") }, io.closed?, try { io.close_write }, io.closed?, try { io.close_read }, try { io.gets }
puts try { StringIO.new(+"", "w").close_read }

# Lines: separators, limits, paragraphs, chomp.
text = "one\ntwo\r\n\n\n\nthree\nvier äöü\n"
[[], [nil], [""], ["\r\n"], ["e"], [4], ["o", 2], [nil, 6], ["", 5]].each do |args|
  puts "#{args.inspect} #{StringIO.new(text).each_line(*args).to_a.inspect}" unless args.include?("")
  puts "#{args.inspect} chomp #{StringIO.new(text).readlines(*args, chomp: true).inspect}" unless args.include?("") || args.include?(nil)
end
puts try { StringIO.new(text).each_line(0) {} }
puts try { StringIO.new("").readline }
io = StringIO.new(text)
puts io.gets(""), io.lineno, io.gets("", chomp: true).inspect, io.gets.inspect, $_.inspect, io.lineno

# Characters and bytes, put back too.
io = StringIO.new(+"äbc")
puts io.getc, io.pos, io.getbyte, io.ungetc("ü").inspect, io.string, io.read, try { io.readchar }, io.getc.inspect, io.getbyte.inspect
io = StringIO.new(+"abc")
io.ungetc("xyz")
puts io.string, io.pos
io.pos = 5
io.ungetbyte(0x21)
puts io.string, io.pos
io = StringIO.new(+"ab")
io.pos = 4
io.ungetbyte("!")
puts io.string.inspect, io.pos
puts StringIO.new("añb").each_char.to_a.inspect, StringIO.new("añb").each_codepoint.to_a.inspect, StringIO.new("añb").each_byte.map { |b| b }.inspect

# Writing in the middle, behind the end, appending; the String is the program's own.
s = +"hello world"
io = StringIO.new(s)
io.seek(6)
io.write("W", 0, :rld)
puts s, io.pos
io.pos = 14
io << "!"
puts s.inspect
io.truncate(3)
puts s.inspect, io.pos
io.rewind
io.print("a", "b")
io.puts("c", ["d", ["e\n"]], nil)
io.printf("%05.1f|", 2.25)
io.putc("xyz")
io.putc(65)
puts s.inspect
log = StringIO.new(+"first\n", "a")
log.rewind
log.puts "second"
puts log.string
puts try { io.truncate(-1) }, try { io.seek(-1) }, try { io.seek(0, 9) }, try { io.pos = -1 }

# read and its relatives.
io = StringIO.new("hello world")
buffer = +"old"
puts io.read(5, buffer), buffer, io.read(0).inspect, io.pread(3, 6), io.read_nonblock(2), io.sysread(2), io.read, io.read.inspect, io.read(1).inspect
puts try { io.sysread(1) }, io.read_nonblock(1, exception: false).inspect, try { io.pread(1, 99) }, try { io.pread(-1, 0) }, try { io.read(-1) }
puts io.eof?, StringIO.new("é").read(1).encoding, StringIO.new("é").read.encoding

# Encodings.
io = StringIO.new("h\xE9llo".b)
io.set_encoding("ISO-8859-1")
puts io.read.encode("UTF-8"), io.external_encoding, io.internal_encoding.inspect
io = StringIO.new(+"".encode("ISO-8859-1"))
io.write("é")
puts io.string.bytes.inspect
puts StringIO.new("\uFEFFabc").tap(&:set_encoding_by_bom).read

# Another view of the same String; a new String; reopening.
a = StringIO.new(+"one two")
b = a.dup
a.read(4)
puts b.read, a.pos
a.string = +"fresh"
puts a.read, b.string
b.reopen(+"again", "r")
puts b.read, try { b.write("x") }
puts StringIO.open(+"in a block") { |i| i.read(2) }
$stdout = StringIO.new
puts "caught", 1
print "and ", "more"
p :this
caught = $stdout.string
$stdout = STDOUT
puts caught.inspect
puts StringIO.ancestors.take(3).inspect, StringIO.new.sync, StringIO.new.tty?, StringIO.new.fileno.inspect, StringIO.new.fsync
nothing = StringIO.new(nil)
puts nothing.read.inspect, nothing.gets.inspect, nothing.write("gone"), nothing.string.inspect
