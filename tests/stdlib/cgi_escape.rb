require "cgi/escape"
def try = yield rescue "#{$!.class}: #{$!.message}"
p CGI.escapeHTML("a<b>&\"'é"), CGI.unescapeHTML("&lt;&gt;&amp;&quot;&apos;&#39;&#x3B1;&#945;&nbsp;&#;&#x;&#99999999;&amp &am"), CGI.escape("a b&c=ü~*+-_."), CGI.unescape("a+b%26%C3%BC%zz%2"), CGI.escapeURIComponent("a b+/"), CGI.unescapeURIComponent("a+b%20c")
p CGI.unescape("%FF"), CGI.unescape("%FF").encoding, CGI.unescape("%E9", "ISO-8859-1").encoding, CGI.escape("é".encode("ISO-8859-1")), CGI.unescapeHTML("&#233;".encode("ISO-8859-1")).bytes, CGI.unescapeHTML("&#233;".b), CGI.escapeHTML("<é>".encode("UTF-16LE")).encoding, CGI.escapeHTML("<é>".encode("UTF-16LE")).encode("UTF-8")
p CGI.escapeElement('<BR><A HREF="url"></A>', "A", "IMG"), CGI.unescapeElement(CGI.escapeHTML('<BR><A HREF="url"></A>'), "A", "IMG"), CGI.escapeElement("<b>", []), CGI.h("<"), CGI.escape_html("<"), CGI.unescape_html("&lt;")
p try { CGI.escapeHTML(nil) }, try { CGI.escape(1) }, try { CGI.unescape("%41", "nope") }
class Page
  include CGI::Util
  def show = escapeHTML("<")
end
p Page.new.show
p CGI.escapeHTML("<"), CGI.unescape("%41")

require "io/nonblock"
r, w = IO.pipe
w.nonblock = false
p w.nonblock?, w.nonblock { |io| io.nonblock? }, w.nonblock?
w.nonblock = true
p w.nonblock?, w.nonblock(false) { |io| io.nonblock? }, w.nonblock?
w << "works as before"
w.close
p r.read
# Needs the standard library.
