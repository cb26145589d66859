# `<<`, interpolation, `tr` and `delete` of Strings in one and in several encodings, called often.
def describe(s) = [s.encoding.to_s, s.valid_encoding?, s.ascii_only?, s.bytesize, s.size]

def append(a, b)
  s = a.dup
  s << b
  describe(s)
rescue => e
  e.class
end
pieces = ["", "ascii", "é", "\xff", "x".b, "\xff".b, "x".encode("US-ASCII"), 12.to_s, "é".encode("ISO-8859-1"), "x".encode("ISO-8859-1"), "x".encode("UTF-16LE"), "あ".encode("Shift_JIS"),
          "long ascii text " * 6, "long é text " * 6]
seen = nil
60.times { seen = pieces.map { |a| pieces.map { |b| append(a, b) } } }
seen.each { |row| p row }

def joined(a, b)
  [describe("#{a}"), describe("#{a}#{b}"), describe("#{a}-#{b}")]
rescue => e
  e.class
end
values = ["", "a", "é", "x".b, "\xff".b, "x".encode("US-ASCII"), 1, -20, :sym, :"é", nil, 2.5, [1], "\xe9".dup.force_encoding("ISO-8859-1")]
60.times { seen = values.map { |a| values.map { |b| joined(a, b) } } }
seen.each { |row| p row }
p "#{1 << 61}#{-(1 << 61)}#{0}#{10}#{-1}#{99}#{100}", "#{}", "#{nil}"

# Characters by number.
[97, 0x80, 0xe9, 0xff, 0x3b1, 0x1f600, 0xd800, -1].each do |c|
  ["", "é", "a".b, "a".encode("US-ASCII"), "あ".encode("EUC-JP")].each do |text|
    s = text.dup
    print (begin; describe(s << c).inspect; rescue => e; e.class; end), " "
  end
  puts
end
s = +""
300.times { |i| s << 97 + i % 26 << (i % 50 == 0 ? 0x3b1 : 98) }
p s.size, s.bytesize, s.valid_encoding?, s[100, 4], s[-7..], s.index("α", 100)

# Texts of all lengths around the blocks that are taken at once.
texts = [0, 1, 63, 64, 65, 127, 128, 129, 200].map { |n| ("abcxyz-" * 40)[0, n] }
texts += texts.map { |t| t + "é" } + texts.map { |t| "é" + t } + [texts.join("ü")]
sums = texts.map do |t|
  [t.tr("a-y", "b-z"), t.tr("^a-c", "*"), t.tr("a-c", "é"), t.tr("é", "e"), t.tr("a-c", "A"), t.tr("abc", ""), t.delete("a-c"), t.delete("^a-c"), t.delete("é"), t.tr_s("a-z", "q"), t.squeeze,
   t.tr("a", "a"), t.count("a-z"), t.size, t[t.size / 2, 5], t[-3, 3]]
end
sums.each { |row| p row.map { |v| v.is_a?(String) ? [v.sum, v.size] : v } }
t = +"unchanged"
p t.tr!("q", "z"), t.tr!("u", "u"), t.delete!("q"), t.tr!("u", "U"), t
sjis = ("表a" * 50).encode("Shift_JIS")
p sjis.tr("a", "b").encode("UTF-8")[0, 6], sjis.delete("a").size, sjis.tr("\\", "x") == sjis
require "erb"
p ["", "a", "<", "<>&\"'", "é<", "x" * 31 + "<", "x" * 32 + "&", "<" * 32, "<" * 33].map { |x| ERB::Util.h(x) }.map { |x| [x.size, x.ascii_only?, x.sum] }
