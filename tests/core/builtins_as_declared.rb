# What programs see of how builtins are declared: parameters, arity, who raises, which of their options are refused.
require "stringio"

def shown(name, method) = puts("#{name}: #{method.arity} #{method.parameters.inspect}")
shown "warn", Kernel.instance_method(:warn)
shown "Kernel.warn", Kernel.method(:warn)
shown "Integer", method(:Integer)
shown "Float", method(:Float)
shown "Time.at", Time.method(:at)
shown "Time.now", Time.method(:now)
shown "pack", [].method(:pack)
shown "sample", [].method(:sample)
shown "shuffle", [].method(:shuffle)
shown "Dir.glob", Dir.method(:glob)
shown "Queue#pop", Queue.instance_method(:pop)
shown "Marshal.load", Marshal.method(:load)
shown "GC.start", GC.method(:start)
shown "clone", Object.instance_method(:clone)
shown "ceildiv", 1.method(:ceildiv)
shown "Lazy#map", [].lazy.method(:map)
shown "Lazy#zip", [].lazy.method(:zip)
shown "Numeric#floor", Numeric.instance_method(:floor)
shown "Numeric#div", Numeric.instance_method(:div)
shown "full_message", StandardError.new.method(:full_message)
shown "Complex.polar", Complex.method(:polar)
shown "String#+", "".method(:+)
class Array
  def pack(text) = super
  def mine(a, b = 1, *c, d:, e: 2, **f, &g) = nil
end
shown "redefined", [].method(:pack)
shown "own", [].method(:mine)

# prism's polyfill asks for `category`.
require "ripper"
p 5.respond_to?(:warn), Kernel.private_method_defined?(:warn)
$stderr = StringIO.new
warn "said", category: :deprecated
warn "told"
p $stderr.string
$stderr = STDERR

raised = []
TracePoint.new(:raise) { |tp| raised << [tp.method_id, tp.defined_class, tp.self.class] }.enable do
  Integer("x") rescue nil
  [1].first(-1) rescue nil
  nil.foo rescue nil
  raise "own" rescue nil
end
p raised

class Told < StandardError
  def initialize(*args, **options) = (super(); @given = [args, options])
  attr_reader :given
end
def error
  yield
  puts "nothing"
rescue StandardError => e
  puts "#{e.class}: #{e.message}"
end
begin
  raise Told, key: 1
rescue Told => e
  p e.given
end
begin
  raise Told, key: 1, cause: nil
rescue Told => e
  p e.given, e.cause
end
error { raise "text", foo: 1 }
error { raise RuntimeError, "text", foo: 1 }
error { raise RuntimeError, "text", [], foo: 1 }
error { IO.pipe[1].write_nonblock("x", foo: 1) }
error { IO.pipe[0].read_nonblock(1, foo: 1) }

io = StringIO.new(+"a")
io.close
io.string = "xyz"
error { io.read }
reads = StringIO.new("a".freeze)
reads.string = +"b"
error { reads.write "c" }
p reads.read

Dir.open(__dir__) do |dir|
  dir.children
  p dir.read
  dir.rewind
  dir.each_child { break }
  p dir.read.class
end
begin
  singleton_class.send(:remove_method, :nothing)
rescue NameError => e
  puts e.message.sub(/0x\h+/, "0x")
end

include Process
p pid == $$, clock_gettime(Process::CLOCK_MONOTONIC).class

# A message that ends a line has another one behind it in a report; without a backtrace the place is the caller's, by its method's name.
p RuntimeError.new("a\nb\n").full_message(highlight: false), RuntimeError.new("a\n").full_message(highlight: false), RuntimeError.new("a\nb\n").full_message(highlight: true), StandardError.new("").full_message(highlight: false)
begin
  raise "a\nb\n"
rescue => e
  p e.full_message(highlight: false)
end
