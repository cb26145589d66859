# StringIO: modes, what is not set up, ends of positions, frozen streams.
require "stringio"
def told
  p yield
rescue => e
  puts "#{e.class}: #{e.message.sub(/#<.*/, "...")}"
end
%w[x rx rbt wx w+x r+ a+b rb:utf-8 rr wt].each { |mode| told { [mode, StringIO.new(+"", mode).class] } }
told { StringIO.allocate.read }
told { StringIO.allocate.pos }
stream = StringIO.new
stream.pos = 2**63 - 1
told { stream.write("abc") }
stream = StringIO.new(+"abc")
told { stream.pread(0, 0, stream.string) }
told { stream.pread(2, 0, stream.string) }
stream = StringIO.new(+"text").freeze
told { stream.puts "a" }
told { stream.write "a" }
told { stream.string = +"" }
told { stream.reopen("") }
told { stream.truncate(0) }
stream = StringIO.new(+"あ")
stream.read
buffer = (+"x").force_encoding("US-ASCII")
p stream.read(nil, buffer).encoding, buffer.encoding, buffer
