# What streams read and write: encodings asked for in all the ways, line ends, marks, conversions that fail.
require "tmpdir"

def shown(io) = [io.external_encoding, io.internal_encoding].map { |e| e&.name }

Dir.mktmpdir do |dir|
  file = File.join(dir, "text")
  File.binwrite(file, "\xE9t\xE9\r\nline\n")
  ["r", "r:iso-8859-1", "r:iso-8859-1:utf-8", "rb", "rb:iso-8859-1", "rt", "r:utf-8:-"].each do |mode|
    File.open(file, mode) { |f| p [mode, shown(f), f.gets] }
  end
  File.open(file, external_encoding: "iso-8859-1", internal_encoding: Encoding::UTF_8) { |f| p shown(f), f.read }
  File.open(file, encoding: "iso-8859-1:utf-16le") { |f| p shown(f), f.readline.bytes }
  [["w:utf-8", { encoding: "utf-8" }], ["wb", { binmode: true }], ["wb", { textmode: true }]].each do |mode, options|
    p((File.open(file + "x", mode, **options) {} rescue [$!.class, $!.message]))
  end
  File.open(file) do |f|
    p shown(f.set_encoding("iso-8859-1:utf-8")), f.getc
    p shown(f.set_encoding(nil, nil))
    p((f.set_encoding("utf-16le") rescue [$!.class, $!.message]))
    p((f.set_encoding(nil, "utf-8") rescue $!.class))
  end
  broken = File.join(dir, "broken")
  File.binwrite(broken, "a\xFFb\n")
  p((File.read(broken, encoding: "utf-8:utf-16le") rescue [$!.class, $!.message]))
  p File.read(broken, encoding: "utf-8:utf-16le", invalid: :replace, replace: "?").bytes

  { "utf-8" => "\u00e9\n", "utf-16le" => "\u00e9\n", "us-ascii" => "\u00e9\n", "ascii-8bit" => "\u00e9\n" }.each do |name, text|
    p [name, (File.open(file, "w:#{name}") { |f| f.write(text) } rescue $!.class), File.binread(file)]
  end
  File.open(file, "w", crlf_newline: true) { |f| f.puts "a", "b\n"; f.print "c\n" }
  p File.binread(file), File.open(file, universal_newline: true, &:read), File.read(file, mode: "rt")
  { "UTF-8" => "\xEF\xBB\xBFx", "UTF-16LE" => "\xFF\xFEx\0", "UTF-32BE" => "\0\0\xFE\xFF\0\0\0x" }.each do |name, bytes|
    File.binwrite(file, bytes)
    File.open(file, "rb") { |f| p [f.set_encoding_by_bom&.name == name, f.pos, f.read == "x".encode(name)] }
  end
  File.open(file, "rb:bom|utf-8") { |f| p shown(f) }

  File.write(file, "0123456789" * 3)
  File.open(file, "r+") do |f|
    p f.read(5), f.sysread(5), f.sysseek(0, IO::SEEK_CUR), f.gets(2), (f.sysread(1) rescue $!.class)
  end
  p File.open(file) { |f| [f.advise(:sequential), begin; f.advise(:fast); rescue NotImplementedError; $!.message; end, f.pread(3, 8)] }
  p IO.read(file, open_args: ["r:us-ascii"]).encoding, IO.write(file, "ab", open_args: ["a"]), File.size(file)
end
# Needs the standard library.
