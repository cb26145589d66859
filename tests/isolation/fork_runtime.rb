# What is beside the object graph: threads, locks, streams, directory, environment, features, thread locals, `$stdout`.
require_relative "support/feature"
Dir.chdir("/")
ENV["FORKED"] = "yes"
$, = nil
T = Thread.new { sleep }
DONE = Thread.new { 1 }.tap(&:join)
Thread.current[:cache] = [1]
Thread.current.thread_variable_set(:tv, 2)
ME = Thread.current
M = Mutex.new
M.lock
r, w = IO.pipe
PIPE = w
$stdout.sync = false
print "buffered once\n"
vm = RubyVM.fork do
  PIPE.puts "through the pipe"
  PIPE.close
  before = [Dir.pwd, ENV["FORKED"], T.alive?, DONE.value, Thread.list.size, ME.equal?(Thread.current), Thread.current[:cache],
            Thread.current.thread_variable_get(:tv), M.locked?, M.lock.class, $LOADED_FEATURES.count { |f| f.end_with?("support/feature.rb") }, Feature.count += 1]
  Dir.chdir("/tmp")
  ENV["FORKED"] = "child"
  Thread.current[:cache] << 2
  before + [Dir.pwd]
end
p vm.value
w.close
p r.read
p [Dir.pwd, ENV["FORKED"], Thread.current[:cache], M.owned?, T.alive?]
RubyVM.fork { $stdout.puts "child prints"; warn "unseen" }.join
# Exceptions, throws, exits.
class Odd < StandardError
  attr_reader :data
  def initialize(data) = (@data = data; super("odd #{data}"))
end
vm = RubyVM.fork(name: "oddity") { raise Odd.new([1]) }
begin
  vm.value
rescue RubyVM::Error => e
  p e.message.sub(/ at .*/, ""), e.cause.class, e.cause.data
end
p RubyVM.fork { exit 3 }.join.status
p RubyVM.fork { next 5 }.value
p((RubyVM.fork { Thread.new {} }.value rescue $!.message[/can't send.*VM/]))
p((RubyVM.fork rescue $!.message))
vm = RubyVM.fork { loop { sleep 1 } }
c = RubyVM::Channel.new
vm.monitor(c)
vm.kill
p c.recv
p RubyVM.fork { at_exit { print "bye\n" }; 7 }.value
a, b = RubyVM::Channel.new, RubyVM::Channel.new
RubyVM.fork { b << [:b, a] }
p RubyVM.select(a, b, timeout: 5) == [b, [:b, a]], RubyVM.select(a, timeout: 0.01)
a.close
p((RubyVM.select(a) rescue $!.class))
