# Text mode reads each kind of line end as "\n", before lines are looked for; what is no text stays as it is. Separators are given in the encoding that is read.
require "tmpdir"

def shown(text) = text && [text, text.encoding.name]

Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    { "crlf" => "a\r\nb\r\n\r\nc\r\n", "cr" => "a\rb\r\rc\r", "lf" => "a\nb\n\nc\n", "mixed" => "a\r\r\nb\n\r\n\n\r\rc" }.each do |name, text|
      File.binwrite(name, text)
      p name => File.readlines(name, mode: "rt")
      File.open(name, "rt") { |f| p f.readlines(chomp: true), f.lineno, f.gets }
      File.open(name, "r", newline: :universal) { |f| p f.gets, f.gets(nil) }
      File.open(name, "rt") { |f| p f.each_char.to_a }
      File.open(name, "rt") { |f| p f.gets(""), f.getc, f.gets("") }
      File.open(name, "rt:euc-jp:utf-8") { |f| p f.gets("b\n"), f.gets(1), f.gets(2), f.gets(2, chomp: true), f.read }
      File.open(name, "r", textmode: true, universal_newline: false) { |f| p f.read }
    end

    File.open("crlf", "rt") { |f| p f.gets, f.pos, f.getc, f.getc; f.binmode; p f.getc, f.getc, f.gets }

    # A carriage return whose line feed comes with a later read.
    IO.pipe("US-ASCII:UTF-8", universal_newline: true) do |r, w|
      w << "one\r"
      reader = Thread.new { [r.gets, r.gets, r.getc, r.gets] }
      Thread.pass
      w << "\ntwo\r"
      w << "x\r"
      w.close
      p reader.value
    end

    # Lines longer than a buffer.
    File.binwrite("long", "x" * 40_000 + "\r\n" + "y" * 40_000 + "\r")
    File.open("long", "rt") { |f| p f.gets.size, f.gets.size, f.gets }

    File.binwrite("wide", "a\r\nb\rc\n".encode("UTF-16LE"))
    p File.read("wide", mode: "rt:utf-16le:utf-8")

    # Separators beyond ASCII.
    File.write("latin", "before \u00FF after")
    File.open("latin", "r:utf-8:iso-8859-1") { |f| p shown(f.gets("\xFF".dup.force_encoding("iso-8859-1"))), shown(f.gets) }
    File.open("latin", "r:utf-8:iso-8859-1") { |f| p((f.gets("\u00FF") rescue [$!.class, $!.message])) }
    File.open("latin", "r:euc-jp") { |f| p((f.gets("\u00FF") rescue [$!.class, $!.message])) }

    File.binwrite("euc", "before \xA1\xA2\xA2\xA3 \xA2\xA2 after")
    rs = "\xA2\xA2".dup.force_encoding("euc-jp")
    File.open("euc", "r:euc-jp:utf-8") { |f| p f.gets(rs.encode("utf-8")), f.gets }
    File.open("euc", "r:euc-jp") { |f| p f.gets(rs).bytesize, f.gets }

    # What stands behind bytes that can't be converted is read next.
    File.binwrite("broken", "a\x80b\nc")
    File.open("broken", "r:utf-8:euc-jp") { |f| p((f.gets rescue $!.class), f.gets, f.gets, f.gets) }
    File.open("broken", "r:utf-8:euc-jp") { |f| p((f.read rescue $!.class), f.read) }
    File.binwrite("undefined", "a\uFFFDb")
    File.open("undefined", "r:utf-8:euc-jp") { |f| p((f.read rescue $!.class), f.read) }

    # A mark tells the encoding; the one inside is still what was asked for.
    %w[UTF-8 UTF-16LE UTF-32BE].each do |e|
      File.binwrite("mark", "\uFEFF\u0100a".encode(e))
      p e => shown(File.read("mark", mode: "rb:BOM|UTF-8:UTF-8"))
    end
  end
end

p((IO.pipe("UTF-8", "UTF-8".encode("UTF-32BE")) rescue $!.class))
IO.pipe do |r, w|
  $VERBOSE = false
  $stderr = Object.new.tap { |o| def o.write(text) = $stdout.write("warned: ", text[/Unsupported.*/], "\n") }
  r.set_encoding("no-such-name", "us-ascii")
  $stderr = STDERR
  w.puts "x"
  p r.gets
end

# Wide characters whose last byte is a line feed's.
IO.pipe("BINARY") do |r, w|
  w.binmode
  w.puts(0x010a.chr(Encoding::UTF_32BE), 0x0a01.chr(Encoding::UTF_16LE), "a\n".encode("UTF-16LE"))
  w.close
  p r.read
end
