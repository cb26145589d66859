# drb+mvm://: dRuby between VMs, over channels (docs/drb.md).
require "drb/mvm"

class Front
  include DRbUndumped
  def add(a, b) = a + b
  def three = 3.times { |i| yield i, i.to_s }
  def stop = [1, 2, 3].each { |n| return n if yield(n) }
  def bad = raise(ArgumentError, "no")
  def same(object) = object
  def myself = self
  def vm = RubyVM.current.name
  def ask(object) = object.hello
  def hidden = 1
  private :hidden
end

class Local
  include DRbUndumped
  def hello = "hello from #{RubyVM.current.name}"
end

Pair = Struct.new(:a, :b)

def tried
  yield
rescue Exception => e
  [e.class, e.message]
end

up, down = RubyVM::Channel.new, RubyVM::Channel.new
server = RubyVM.fork(up, down, name: "server") do |up, down|
  DRb.start_service("drb+mvm://front", Front.new)
  up << [DRb.uri, DRb.thread.alive?]
  down.recv
  DRb.stop_service
  up << 1
  down.recv
end
p up.recv
DRb.start_service("drb+mvm://", Local.new)
p DRb.uri.start_with?("drb+mvm://server-"), DRb::MVM.names.list.include?("front")
front = DRbObject.new_with_uri("drb+mvm://front")

puts "== calls"
p front.add(1, 2), front.add("a", "b"), front.vm
front.three { |i, s| p [i, s] }
p front.stop { |n| n == 2 }
p tried { front.bad }, (front.bad rescue $!.backtrace[0].start_with?("(drb+mvm://front)"))
p tried { front.three { |i| raise IOError, "in the block" if i == 1 } }
p tried { front.hidden }[0], tried { front.nothing }[0], tried { front.__send__(:add, 1, 2) }
p front.myself.class, front.myself.vm, front.same(front).vm
p front.ask(Local.new)
p front.same(Local.new).hello
list = [nil, true, 2**70, 1.5, :s, "é", "\xff".b, [1, [2, [3, [4, [5]]]]], { a: { "b" => 1 } }, Pair.new(1, 2), Time.at(0, 5, :usec).utc, 1..2, 3r, String, Float::INFINITY]
p front.same(list) == list, list.all? { |object| front.same(object) == object }
p front.same("x".encode("UTF-16LE")).encoding, front.same("frozen".freeze).frozen?
p front.same(-> { 1 }).class, front.same($stdout).class
h = Hash.new(5)
p front.same(h)[:none]
p front.same(c = Class.new).equal?(c)
p 4.times.map { |t| Thread.new { 50.times.sum { |i| front.add(i, t) } } }.sum(&:value)

puts "== names"
p tried { DRbObject.new_with_uri("drb+mvm://nobody").x }[0]
p tried { DRb::DRbServer.new("drb+mvm://front", 1) }
p tried { DRb::DRbServer.new("drb+mvm:front", 1) }[0]
# A fork has the names, and none of the servers.
p RubyVM.fork { [DRbObject.new_with_uri("drb+mvm://front").vm, tried { DRb.uri }[0], DRb.here?(DRbObject.new_with_uri("drb+mvm://front").__drburi)] }.value
# What a fork takes for its table is its own matter.
RubyVM.fork { DRb::MVM.names = DRb::MVM.names.lookup_only }.join
DRb::DRbServer.new("drb+mvm://after-fork", 1).stop_service
# Other VMs know nobody, until they are given names.
code = <<~RUBY
  require "drb/mvm"
  out, names = RubyVM::ARGV
  DRb::MVM.names = names if names
  [-> { DRbObject.new_with_uri("drb+mvm://front").vm }, -> { DRb.start_service("drb+mvm://taken", 1) && DRb.uri }].each { |work| out << (work.call rescue $!.class.name) }
RUBY
out = RubyVM::Channel.new
[nil, DRb::MVM.names.to_a, DRb::MVM.names.lookup_only.to_a].each do |names|
  RubyVM.new("other", "-e", code).start(*[out, names].compact).join
  p [out.recv, out.recv]
end
p DRb::MVM.names.list.include?("taken"), DRb::MVM.names.register?, DRb::MVM.names.lookup_only.register?
p tried { DRb::MVM.names = 3 }, tried { DRb::MVM.names = [1, 2] }[0]
keeper = RubyVM.fork(out) { |out| out << DRb::MVM::Names.new; sleep }
names = out.recv
p names.list
keeper.kill(grace: 0)
tried { keeper.join }
p tried { names.list }

puts "== ends"
busy = RubyVM.fork(up) { |up| DRb.start_service("drb+mvm://busy", Object.new.tap { |o| def o.wait = sleep }); up << 1; sleep }
up.recv
waiting = Thread.new { tried { DRbObject.new_with_uri("drb+mvm://busy").wait } }
sleep 0.1
busy.kill(grace: 0)
p waiting.value, DRb::MVM.names.list.include?("busy")
# Threads of clients that have ended end, too.
served = -> { Thread.list.count { |thread| thread["DRb"]&.key?("client") } }
before = served.call
client = RubyVM.fork(DRb.uri, up) { |uri, up| up << DRbObject.new_with_uri(uri).hello; sleep }
p up.recv, served.call - before
client.kill(grace: 0)
sleep 0.01 until served.call == before
down << 1
up.recv
p RubyVM.fork { tried { DRbObject.new_with_uri("drb+mvm://front").vm }[0] }.value, DRb::MVM.names.list.include?("front")
again = DRb::DRbServer.new("drb+mvm://front", Local.new)
p DRb::MVM.names.list.include?("front")
again.stop_service
DRb.stop_service
p DRb::MVM.names.list
# A server over TCP in a fork: its first connection, too.
tcp = RubyVM.fork(up) { |up| up << DRb.start_service("druby://127.0.0.1:0", Local.new).uri; DRb.thread.join }
uri = up.recv
DRb.start_service("druby://127.0.0.1:0")
remote = DRbObject.new_with_uri(uri)
p Array.new(2) { tried { remote.hello } }
tcp.kill(grace: 0)
DRb.stop_service
# In a forked process there are no other VMs, and the names begin anew.
DRb.start_service("drb+mvm://parent", Local.new)
other = DRbObject.new_with_uri("drb+mvm://parent")
other.hello
r, w = IO.pipe
Process.wait(Process.fork do
  w << [tried { other.hello }[0], DRb::MVM.names.list, DRb.start_service("drb+mvm://child", Local.new) && DRbObject.new_with_uri("drb+mvm://child").hello].inspect
  w.close
end)
w.close
p r.read, other.hello
DRb.stop_service
