# The footer is checked by who reads behind the last byte, by `unused` and when the reader is closed.
require "zlib"
require "stringio"

def t(name)
  result = begin
    yield
  rescue StandardError => e
    [e.class, e.message]
  end
  puts "#{name}: #{result.inspect}"
end

def reader(text) = Zlib::GzipReader.new(StringIO.new(text))

whole = Zlib.gzip("a line\n" * 20)
endless = whole[0..-9]
plain = reader(whole)
t("names") { [plain.orig_name, plain.comment] }
endings = { none: endless, short: whole[0..-4], length: whole[0..-2] + "\1", checksum: endless + "\1\2\3\4" + whole[-4..] }
endings.each do |name, text|
  t("#{name}: read") { reader(text).read.size }
  t("#{name}: read again") { r = reader(text); [r.read(2), r.read.size, r.read] }
  t("#{name}: close") { r = reader(text); r.read; r.close }
  t("#{name}: lines") { reader(text).each_line.count }
  t("#{name}: characters") { r = reader(text); n = 0; n += 1 while r.getc; n }
  t("#{name}: exactly") { r = reader(text); [r.read(140).size, r.eof?, r.read(0)] }
  t("#{name}: readpartial") { reader(text).readpartial(140).size }
  t("#{name}: unused") { r = reader(text); r.read; r.unused }
  t("#{name}: wrap") { Zlib::GzipReader.wrap(StringIO.new(text)) { |r| r.read.size } }
  t("#{name}: zcat") { Zlib::GzipReader.zcat(StringIO.new(text)).size }
  t("#{name}: gunzip") { Zlib.gunzip(text).size }
end
%i[getbyte getc gets readbyte readline].each { |m| t(m) { r = reader(endless); r.read; r.public_send(m) } }
t("put back") { r = reader(endless); r.read; r.ungetc("xy"); [r.getc, r.read, (r.read rescue $!.class)] }
t("again") { r = reader(endless); r.read; r.rewind; r.read.size }
t("not closed") { r = reader(endless); r.read; (r.close rescue $!.class); r.closed? }
t("finished early") { reader(endless).finish.class }
t("rest") { r = reader(whole + "rest"); [r.unused, r.read(140).size, r.unused, r.eof?, r.read(1), r.unused] }
t("lines and rest") { r = reader(whole + "rest"); [r.each_line.count, r.unused, r.gets] }
t("empty") { r = reader(Zlib.gzip("")[0..-9]); [r.eof?, (r.read rescue $!.class)] }
t("two") { Zlib::GzipReader.zcat(StringIO.new(whole * 2)).size }

# Many lines of one part of a file: what was read of them is not moved each time.
many = reader(Zlib.gzip("abc\n" * 200_000 + "\n\n\nparagraph\n\nlast"))
t("many") { [Array.new(150_000) { many.gets }.uniq, many.getc, many.ungetc("A"), many.gets, many.pos] }
t("paragraphs") { [many.gets("").size, many.gets(""), many.gets(""), many.gets("")] }
