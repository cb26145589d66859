require "cgi/escape"
require "erb"

# Texts of many lengths, with and without what is escaped.
sum = 0
[0, 1, 31, 32, 33, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 65_535, 65_536, 65_537, 200_000].each do |n|
  plain = "a" * n
  same = CGI.escapeHTML(plain)
  p [n, same == plain, same.equal?(plain), same.frozen?, same.encoding]
  same << "<"
  p plain.size == n
  next if n == 0
  [0, n / 2, n - 1].each do |at|
    text = plain.dup
    text[at] = "<"
    escaped = CGI.escapeHTML(text)
    p escaped.size == n + 3, escaped[at, 4], ERB::Util.h(text) == escaped, CGI.unescapeHTML(escaped) == text
  end
  all = "<&>\"'" * n
  sum += CGI.escapeHTML(all).bytes.sum
end
p sum

# Other encodings and kinds.
utf8 = "ä <b> ß " * 20
["UTF-8", "ISO-8859-1", "UTF-16LE", "UTF-32BE"].each do |name|
  escaped = CGI.escapeHTML(utf8.encode(name))
  p [escaped.encoding, escaped.valid_encoding?, escaped.encode("UTF-8") == CGI.escapeHTML(utf8)]
  plain = CGI.escapeHTML(("ä " * 30).encode(name))
  p [plain.encoding, plain.encode("UTF-8") == "ä " * 30]
end
class Text < String; end
text = Text.new("nothing to escape " * 4).freeze
p CGI.escapeHTML(text).class, CGI.escapeHTML(text).frozen?
p CGI.escapeHTML(Text.new("short")).class, CGI.escapeHTML(Text.new("<")).class, CGI.escapeHTML(Text.new("<" * 50)).class
broken = ("ok \xff " * 20)
p CGI.escapeHTML(broken).valid_encoding?, CGI.escapeHTML(broken + "<").end_with?("&lt;".b.force_encoding("UTF-8"))
p CGI.escapeHTML("a" * 40 + "ä").ascii_only?, CGI.escapeHTML("<" + "a" * 40).ascii_only?
