# What is written is converted to a StringIO's encoding, which an empty String takes over; what can't be is refused. A scanner that was allocated takes a String.
require "stringio"
require "strscan"
s = StringIO.new(+"", "w:utf-32be")
s.print "abc"
p s.string.encoding, s.string.bytes
["\u{1f363}", "\u3042\u{1f363}", "a"].each do |text|
  s = StringIO.new.set_encoding(Encoding::Windows_31J)
  s.write(text)
  p s.string
rescue => e
  puts "#{e.class}: #{e.message}"
end
s = StringScanner.allocate
p s.inspect, (s.eos? rescue $!.class)
s.string = "test"
p s, s.scan(/te/), s.eos?
