# Procs and Methods in messages.
CLASSES = <<~'RUBY'
  FACTOR = 3
  class Counter
    def initialize(n) = @n = n
    attr_reader :n
    def adder = ->(x) { @n += x }
    def add(x) = @n += x
    def self.make(n) = new(n)
    def self.maker = proc { |n| make(n) }
    def respond_to_missing?(name, _) = name == :ghost
    def method_missing(name, *args) = name == :ghost ? [:ghost, *args] : super
    alias plus add
  end
  def top(x) = [:top, x]
RUBY
eval CLASSES
there = RubyVM::Channel.new
back = RubyVM::Channel.new
vm = RubyVM.new("ruby", "-e", CLASSES.sub("FACTOR = 3", "FACTOR = 5") + <<~'RUBY')
  there, back = RubyVM::ARGV
  loop do
    f, *args = there.recv
    break unless f
    back << f.call(*args)
  rescue => e
    back << [e.class, e.message]
  end
RUBY
vm.start(there, back)
remote = lambda do |f, *args|
  there << [f, *args]
  back.recv
end

p remote.(->(x) { x + 1 }, 1)
p remote.(proc { |a, (b, *c), d: 4, **e| [a, b, c, d, e] }, 1, [2, 3, 4])
# Constants are the receiver's.
p remote.(->(x) { x * FACTOR }, 2)
# Outer variables go along, as copies, and are shared by the Procs of one message.
count = 10
up = -> { count += 1 }
p remote.(->(f) { [up.(), f.(), count] }, up), count
both = [-> { count += 1 }, -> { count }]
ch = RubyVM::Channel.new
ch << both
inc, get = ch.recv
inc.()
inc.()
p get.(), count
# What only a neighbour uses is no obstacle; what the block uses is.
lock = Mutex.new
other = -> { lock }
p remote.(->(x) { [x, count] }, 1)
begin
  remote.(->(x) { other.(); x }, 1)
rescue TypeError => e
  puts e.message
end
begin
  remote.(->(x) { [x].map { |y| y + eval("count") } }, 1)
rescue TypeError => e
  puts e.message
end
def fresh
  a = 1
  b = 2
  ->(c) { eval("a + b + c") }
end
p remote.(fresh, 3)
# self
p remote.(Counter.new(1).adder, 5)
c = Counter.new(1)
ch << [c, c.adder]
c2, adder = ch.recv
adder.(4)
p c2.n, c.n
p remote.(Counter.maker, 8).n
p remote.(-> { self.to_s })
p remote.(-> { top(1) })
# Kinds of Procs
p remote.(:upcase.to_proc, "a"), remote.(method(:top).to_proc, 2), remote.(method(:format), "%03d", 7), remote.(Counter.new(2).method(:add), 3)
p remote.(->(a, b, c) { [a, b, c] }.curry[1][2], 3), remote.(method(:Integer) >> ->(v) { v + 1 }, "41"), remote.({ a: 1 }.to_proc, :a)
p remote.(Counter.method(:make), 4).n, remote.(Counter.new(5).method(:plus), 1), remote.(Counter.new(5).method(:ghost), 1)
ch << [Counter.instance_method(:add), :map.to_proc, [1, 2].method(:map).unbind, lambda(&:succ)]
add, sym, map, l = ch.recv
p add.bind_call(Counter.new(1), 2), sym.call([3]) { |x| x + 1 }, map.bind_call([4]) { |x| x }, l.lambda?, add.owner, add.name
# super, yield, return, break
class Base; def who = "base"; end
class Sub < Base
  def who = -> { "sub of #{super}" }
  def run = yield
end
ch << Sub.new.who
p ch.recv.()
f = ->(x) { return x * 2 if x > 1; :small }
p remote.(f, 4), remote.(f, 1), remote.(proc { next 7 })
ch << proc { break 7 }
begin
  ch.recv.()
rescue LocalJumpError => e
  puts e.message
end
# Hash with a default proc, lazily, at the receiver.
h = Hash.new { |hash, key| hash[key] = key * count }
p remote.(->(hash) { [hash[2], hash.size] }, h), h.size
# define_method keeps its own; procs that refer to themselves
fact = ->(n) { n < 2 ? 1 : n * fact.(n - 1) }
p remote.(fact, 20)
p remote.(->(x) { x =~ /b(.)/; [$1, $~[0]] }, "abc")
# A block that never looks at its self travels without it when it can't travel; one that does, does not.
class Holder
  def initialize = @lock = Mutex.new
  def idle(n) = ->(x) { [x, n].map { |i| i + Math.sqrt(4).to_i } }
  def asks = -> { @lock }
  def calls = -> { idle(1) }
  def passes = ->(list) { list << self }
  def inner = -> { [1].each { |_| [2].each { @lock } } }
  def evals = ->(s) { eval(s) }
  def own = -> { Struct.new(:n).new(5).n }
  def both = [idle(2), asks]
  def sendable = [1, 2].instance_exec { -> { 3 } }
end
holder = Holder.new
ch << [holder.idle(10), holder.own]
p ch.recv.then { |f, g| [f.(1), g.()] }
%i[asks calls passes inner evals both].each do |name|
  ch << holder.__send__(name)
  puts "#{name} was sent"
rescue TypeError => e
  puts "#{name}: #{e.message}"
end
ch << holder.idle(1)
p ch.recv.binding.receiver
ch << holder.sendable
p ch.recv.binding.receiver
# A Method that the receiver lacks.
class Counter; def extra = 1; end
p remote.(Counter.new(1).method(:add), 1)
there << [Counter.new(1).method(:extra)]
p back.recv
p remote.(->(x) { x }, :next)
there << nil
vm.join
