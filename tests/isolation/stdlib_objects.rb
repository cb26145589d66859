# Objects of the standard library's natives travel and are forked with what they hold; classes are each VM's own.
require "stringio"
require "strscan"
require "json"

there, back = RubyVM::Channel.new, RubyVM::Channel.new
echo = RubyVM.new("echo", "-e", "require 'stringio'; require 'strscan'; there, back = RubyVM::ARGV\nwhile (x = there.recv)\n  back << x\nend").start(there, back)
send = ->(x) { there << x; back.recv }

io = StringIO.new(+"one\ntwo\nthree")
io.gets
copy = send.(io)
p copy.class, copy.gets, copy.lineno, io.gets, copy.string.equal?(io.string)
copy.write("X")
p copy.string, io.string
a, b = send.([io, io.dup])
p a.gets, b.pos
scanner = StringScanner.new("2024-11-05")
scanner.scan(/(?<y>\d+)-/)
copy = send.(scanner)
p copy.pos, copy[:y], copy.scan(/\d+/), scanner.pos, scanner.pre_match
there << nil
echo.join

# A fork has what the parent had when it was made; neither sees the other after that.
LOG = StringIO.new
LOG.puts "parent"
SCAN = StringScanner.new("a b c")
SCAN.scan(/a /)
vms = 4.times.map do |i|
  RubyVM.fork(i) do |n|
    LOG.puts "child #{n}"
    class StringIO; def shout = string.upcase; end
    [LOG.shout, SCAN.scan(/\w/), JSON.generate({ n => [nil, SCAN.pos] }), JSON.parse('{"a":[1]}')]
  end
end
LOG.puts "parent again"
p vms.map(&:value), LOG.string, SCAN.pos, LOG.respond_to?(:shout)
# What is changed after a fork is new in the next.
p RubyVM.fork { [LOG.string, SCAN.rest, SCAN.getch] }.value
SCAN.getch
p RubyVM.fork { [LOG.string, SCAN.rest] }.value
# A VM that never asked for them has none of it.
p RubyVM.new("bare", "-e", "RubyVM::ARGV[0] << [defined?(StringIO), defined?(JSON), 1.respond_to?(:to_json)]").then { |vm| vm.start(c = RubyVM::Channel.new); c.recv }
require "date"
require "digest"
md5 = Digest::MD5.new << "ab"
DAY = Date.new(2024, 2, 29)
p RubyVM.fork(md5) { |m| [(m << "c").hexdigest, (DAY >> 12).to_s, DAY.frozen?, Date.parse("3 Feb 2001"), DateTime.new(2024, 1, 2, 3) - DAY] }.value, md5.hexdigest
