# CGI.escapeHTML of texts around 32 bytes: content, encoding, what is known of them, and that they are new Strings.
require "cgi/escape"
(28..36).each do |n|
  ["a" * n, "<" * n, "a" * (n - 1) + "&", "é" * (n / 2), "'" + "é" * (n / 2), ("\xff" * n).b + "<", "\xff" * n, ("\"" * n).encode("UTF-16LE"), ("'" * n).force_encoding("US-ASCII"), ("あ<" * (n / 4)).encode("Shift_JIS")].each do |t|
    t.valid_encoding? if n.even?
    r = CGI.escapeHTML(t)
    p [r.encoding.to_s, r.bytesize, r.valid_encoding?, r.ascii_only?, r.frozen?, r.equal?(t), r.bytes.sum]
  end
end
p CGI.escapeHTML(""), CGI.escapeHTML("<").class
