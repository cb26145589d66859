# Whoever makes a pool may be interrupted at any moment (Thread#kill, Thread#raise, Timeout): no VM is left that was started by then. Nor are connections to a server that can't be reached.
require "timeout"
class Stop < StandardError; end

# How many VMs are left, in a moment.
def left(before)
  500.times { RubyVM.list.size > before ? sleep(0.01) : break }
  RubyVM.list.size - before
end

puts "-- VMs"
{
  kill: ->(seconds, &work) { Thread.new(&work).tap { |thread| sleep seconds; thread.kill }.join },
  raise: ->(seconds, &work) { Thread.new { work.call rescue Stop }.tap { |thread| thread.report_on_exception = false; sleep seconds; thread.raise(Stop) }.join rescue Stop },
  timeout: ->(seconds, &work) { Timeout.timeout(seconds + 1e-6, &work) rescue Timeout::Error },
  twice: ->(seconds, &work) { Thread.new { work.call rescue Stop }.tap { |thread| thread.report_on_exception = false; sleep seconds; thread.raise(Stop); thread.kill }.join rescue Stop },
}.each do |name, interrupted|
  before = RubyVM.list.size
  [16, 300].each do |size|
    12.times { |i| interrupted.(i * size * 0.000_003) { RubyVM::Pool.open(size: size) { |pool| pool.map([1]) { 1 } } } }
  end
  puts "#{name}: #{left(before)}"
end
# Made, and not for a block.
before = RubyVM.list.size
10.times { |i| Thread.new { Thread.current[:pool] = RubyVM::Pool.new(size: 300) }.tap { |thread| sleep i * 0.001; thread.kill }.join[:pool]&.shutdown }
p left(before)

puts "-- one whose thread is killed"
pool = RubyVM::Pool.new(size: 2, name: "odd")
pool.map([1]) { 1 }
(Thread.list - [Thread.current]).select { |thread| thread.name == "odd" }.each(&:kill).each(&:join)
begin
  pool.map([1]) { 1 }
rescue RubyVM::Pool::Error => e
  puts e.message
end
p pool.closed?, left(1)

puts "-- sizes"
[10**9, 10**8].each do |size|
  RubyVM::Pool.new(size: size)
rescue ArgumentError => e
  puts e.message.gsub(/\d+/, "N")
end
begin
  Timeout.timeout(0.05) { RubyVM::Pool.new(size: 100_000) }
rescue Timeout::Error => e
  p e.class, left(1)
end

puts "-- no server"
# The thread of Timeout stays.
before = Thread.list.size
3.times do
  [-> { RubyVM::Channel.open("redis://127.0.0.1:1/x", timeout: 0.1) }, -> { RubyVM::Channel.open("nats://127.0.0.1:1/x", timeout: 0.1) }, -> { RubyVM::Pool.new(connect: "redis://127.0.0.1:1/x", timeout: 0.1) }].each do |opens|
    opens.call
  rescue RubyVM::Cluster::Unavailable
    nil
  end
end
sleep 0.1
p Thread.list.size - before
