# A pool that has ended holds no duplicates of its program's pipes: whoever reads them sees their end.
require "zakuro/parallel"
require "socket"
$reader, $writer = IO.pipe
def ends(what)
  $reader, $writer = IO.pipe
  yield
  $writer.close
  $stdout.puts "#{what}: #{$reader.wait_readable(30) ? $reader.read.inspect : "no end"}"
end
ends("closed") { RubyVM::Pool.open(size: 2) { |pool| pool.map(1..4) { |n| n } } }
ends("shut down") { RubyVM::Pool.new(size: 2).tap { |pool| pool.submit { sleep } }.shutdown }
ends("left by an exception") { RubyVM::Pool.open(size: 1) { raise "x" } rescue nil }
ends("set up wrongly") { RubyVM::Pool.open(size: 1, setup: -> { raise "x" }) { |pool| pool.map([1]) { 1 } } rescue nil }
ends("parallel_map") { [1, 2].parallel_map { |n| n } }
SOCKETS = UNIXSocket.pair
RubyVM::Pool.open(size: 2) { |pool| pool.map(1..4) { |n| n } }
SOCKETS[0].close
puts "sockets: #{SOCKETS[1].wait_readable(30) ? SOCKETS[1].read.inspect : "no end"}"
image = RubyVM::Image.capture
RubyVM::Pool.open(size: 1, image:) { |pool| p pool.map([1]) { |n| n } }
p image.spawn { 2 }.value
