# Keywords that are written by name in a call of a builtin: no Hash is made for them, and nothing else is different.

def raises
  yield
rescue Exception => e
  puts "#{e.class}: #{e.message}"
end

def some
  p Float("1.5", exception: false), Float("x", exception: false), Integer("12", 8, exception: false), Integer("z", exception: false)
  p "abcd".unpack1("C", offset: 1), "abcd".unpack("CC", offset: 2), 2.5.round(half: :even), 25.round(-1, half: :down), 3.7.floor.clamp(1, 2)
  p "a\nb\n".lines(chomp: true), "a\nb".each_line(chomp: true).to_a, [3, 1, 2].sum(0), "x".clone(freeze: true).frozen?, "x".clone(freeze: false).frozen?
  p [1, 2, 3].shuffle(random: Random.new(3)), [1, 2, 3].sample(random: Random.new(3)), Time.at(0, in: "+09:00").hour, Time.at(0, 5, :millisecond, in: "UTC").nsec
  p "é".encode("UTF-16LE", invalid: :replace, undef: :replace).bytes, "a\u3042".encode("US-ASCII", fallback: {"あ" => "?"}), "\xff".encode("UTF-8", "UTF-8", invalid: :replace)
  p 1.step(by: 2, to: 5).to_a, 1.0.step(by: 0.5, to: 2).to_a, "%s" % [1], Comparable.instance_method(:clamp).arity
  p Marshal.load(Marshal.dump("x"), freeze: true).frozen?, "aXb".unicode_normalize(:nfc)
end
3.times { |i| i < 2 ? (some if i == 0) : some }

# Errors
raises { Float("1", foo: 1) }
raises { Float("1", foo: 1, bar: 2, exception: true) }
raises { Float(exception: false) }
raises { Float("1", 2, exception: false) }
raises { Float("x", exception: true) }
raises { "a".unpack1("C", offset: 5) }
raises { 2.5.round(half: :foo) }
raises { 2.5.round(half: "even", up: 1) }
raises { "a".lines(foo: 1) }
raises { Object.new.clone(freeze: 1) }
raises { [1].sum(a: 1) }
raises { [1].first(a: 1) }
raises { Integer("1", exception: (raise "in a value")) }

# What a value does while it is evaluated, and blocks
x = "a-b"
p "abc".each_line("b", chomp: true) { |l| print l, "|" }
p [3, 1].each_slice(1).to_a, "ab".each_line(chomp: (x << "!"; true)).to_a, x
blk = ->(l) { print l, ";" }
"q\nr".each_line(chomp: true, &blk)
puts
"q\nr".lines(chomp: true, &:upcase)

# Through other ways
m = method(:Float)
p m.call("1", exception: false), send(:Float, "y", exception: false), m.unbind.bind_call(self, "2", exception: true), Kernel.Float("z", exception: false)
p [["1"], ["x"]].map { |a| Float(*a, exception: false) }
o = {exception: false}
p Float("q", **o), Float("q", **o, **{}), o
p "1".then { Float(_1, exception: false) }, %w[1 a].map { Float(it, exception: false) }
h = {chomp: true}
p "a\n".lines(**h), h

# Somebody else's Float, again and again
def f(v) = Float(v, exception: false)
p f("1"), f("x")
module Kernel
  alias old_float Float
  def Float(v, exception: true) = [v, exception]
end
p f("1"), f("x")
module Kernel
  alias Float old_float
end
p f("1"), f("x")
class String
  alias old_unpack1 unpack1
  def unpack1(f, **opts) = [f, opts]
end
def u(s) = s.unpack1("C", offset: 1)
p u("abc")
class String
  alias unpack1 old_unpack1
end
p u("abc")
p [1, 2.5, "a"].map { |r| r.respond_to?(:round) ? r.round(half: :up) : r.lines(chomp: true) }

# A Hash of keywords that is kept is its own
e = "a\nb\n".each_line(chomp: true)
p e.to_a, e.size, e.inspect
a = 1.step(by: 2, to: 9)
p a, a.to_a
w = []
trace = TracePoint.new(:c_call) { |t| w << t.method_id if t.method_id == :lines }
trace.enable { "1".lines(chomp: true) }
p w
p binding.local_variables.size > 3
GC.stress = true
3.times { p "a\n".lines(chomp: true), Float("#{1}.5", exception: false) }
GC.stress = false

class Child < String
  def lines(...) = super
  def each_line(*, **, &) = super
  def unpack1(f, offset: 0) = super
end
p Child.new("a\nb").lines(chomp: true), Child.new("a\nb").each_line(chomp: true).to_a, Child.new("ab").unpack1("C", offset: 1)
raises { Warning.warn("w", category: :foo) }
p Comparable.instance_methods.size > 3, $stderr.sync.class
warn("kept", uplevel: nil) if $stdout.nil?
def nested(n) = n == 0 ? Float("3", exception: false) : Float("#{nested(n - 1)}", exception: nested(n - 1) > 1)
p nested(4)
f = Fiber.new { Float(Fiber.yield("1"), exception: false) }
f.resume
p f.resume("2"), Thread.new { Float("t", exception: false) }.value
class Conv
  def to_str = "a\nb"
  def to_f = 1.5
end
p Float(Conv.new, exception: false), "a\nb".unpack1("a*", offset: Class.new { def to_int = 1 }.new)
catch(:out) { "ab\nc".each_line(chomp: true) { |l| throw :out } }
p "ab\nc".each_line(chomp: true) { |l| break l }
