# Details of the libraries that CRuby's own tests ask for.
require "strscan"
require "digest"
require "cgi/escape"
require "pathname"
require "date"
require "stringio"
require "monitor"
def asked
  yield
rescue StandardError, LoadError => e
  [e.class, e.message]
end

s = StringScanner.new("on 20260514")
s.skip_until(/ /)
s.scan(/(?<y>\d{4})(\d{2})?(?<d>\d{2})(?<z>x)?/)
p s.integer_at(0), s.integer_at(:y), s.integer_at("d"), s.integer_at(-1), s.integer_at(9), s.integer_at(0, 16)
p s.named_captures, s.reset.named_captures, asked { s.integer_at(:y) }
s.scan(/(?<a>q)/)
p s.named_captures, s.terminate.named_captures

p Digest::CRC32.hexdigest("abc"), Digest::CRC32.digest("abc").bytes, Digest::CRC32.new.update("a").update("bc").hexdigest, Digest::CRC32.new.digest_length
p Digest::CRC32.hexdigest("")
p asked { Digest::Nodef }, asked { Digest::MD5.new.send(:initialize_copy, Digest::SHA1.new) }.first, DateTime.new(2001).strftime("%-30+"), Date._iso8601("01-w02-3").sort

p CGI.unescapeHTML("&#xD800;&#65;&#xDFFF;").bytes, asked { CGI.unescape("", nil) }, CGI.unescape("%C3%BC", "UTF-8")
p Object.new.extend(CGI::Escape).h("<'>"), Object.new.extend(CGI::Escape).escape_element("<BR><A x>", "A"), CGI.unescapeElement("&lt;A x&gt;&lt;B&gt;", "A")

p %w[../ ../. .././ a/../ a/../. a/. a/./ a/ ./ / /./ /.. a/../..].map { |path| Pathname(path).cleanpath(true).to_s }
p asked { Pathname.new(Object.new) }, Pathname("x").respond_to?(:lutime)
p %w[/ /a /a/ /a// . ./ a/b//].map { |path| Pathname.allocate.send(:del_trailing_separator, path) }
p %w[/ // a a/ a/b//].map { |path| Pathname.allocate.send(:has_trailing_separator?, path) }

d = DateTime.new(2001, 2, 3, 4, 5, 6, Rational(9, 24))
p %w[%-z %-:z %-::z %-:::z %_z %-5z %-10z %10:z %-20c %20D %-20D].map { |f| d.strftime(f) }, Time.new(2001, 2, 3, 4, 5, 6, "+09:00").strftime("%-z %-20D|")
p Date._iso8601("200102030405").sort, Date._iso8601("20010203040506.5Z").sort

p asked { io = StringIO.new(+"ab"); io.read(1, io.string) }, StringIO.new("").pread(0, 0, +"stale"), StringIO.new("x").pread(0, 0).encoding

m = Monitor.new
c = m.new_cond
p m.synchronize { c.wait(0.01) }
waiting = Thread.new { m.synchronize { c.wait } }
Thread.pass until waiting.stop?
m.synchronize { c.signal }
p waiting.value
class Early
  include MonitorMixin
  attr_reader :cond
  def initialize
    @cond = new_cond
    super
  end
end
e = Early.new
p e.synchronize { e.cond.wait(0.01) }

spot = (1.foo rescue ErrorHighlight.spot($!))
p spot[:snippet], spot[:script_lines].class, spot[:script_lines][spot[:first_lineno] - 1] == spot[:snippet]
p asked { File.lchmod(0o600, "nowhere at all") }.first
