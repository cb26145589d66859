# HTML escapes where special characters stand close together, far apart and in long rows.
require "cgi/escape"
parts = ["<", ">", "&", "\"", "'", "a", "bcdefg", "x" * 15, "y" * 16, "z" * 17, "é", "w" * 40]
n = 7
texts = (0..60).map { |i| (0..i).map { n = (n * 69069 + 5) & 0xffff; parts[n / 7 % parts.size] }.join }
p texts.sum { CGI.escapeHTML(it).sum }, texts.all? { |t| CGI.escapeHTML(t) == t.gsub(/[&<>"']/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", "\"" => "&quot;", "'" => "&#39;") }
p texts.all? { CGI.unescapeHTML(CGI.escapeHTML(it)) == it }, CGI.escapeHTML("<" * 3000).size, CGI.escapeHTML("a<" * 5000).size
p CGI.escapeHTML("\xff<\xfe".b).bytes, CGI.unescapeHTML("&#39;&#039;&#x27;&#X27;&AMP;&lt&lt;&#39").bytes, CGI.unescapeHTML("&lt;&#39;".encode("UTF-16LE")).encode("UTF-8"), CGI.unescapeHTML("&apos;&#39;&#200;".encode("ISO-8859-1")).bytes
# Needs the standard library.
