require "pty"
require "stringio"
require "zlib"
require "io/console"
def t = yield rescue [$!.class, $!.message]
# What a block with a program on a terminal answers.
p PTY.spawn("true") { 5 }, PTY.getpty("true") { 5 }
# `finish` is every gzip file's.
p Zlib::GzipReader.instance_method(:finish).owner, Zlib::GzipWriter.instance_method(:finish).owner
io = StringIO.new
w = Zlib::GzipWriter.new(io)
w << "text"
p w.finish.equal?(io), io.closed?, t { w.finish }
r = Zlib::GzipReader.new(StringIO.new(io.string))
p r.read, r.finish.class, t { r.read }
begin
  $stdin.check_winsize_changed
rescue NotImplementedError => e
  p e.class, e.message
end
p Encoding::Converter.constants.sort.to_h { |c| [c, Encoding::Converter.const_get(c)] }
# HOME is what it is; `~` wants a place.
["", "rel", "/there"].each do |home|
  ENV["HOME"] = home
  p t { Dir.home }, t { Dir.home(nil) }, t { File.expand_path("~") }, t { File.expand_path("~/x") }
end
