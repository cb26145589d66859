# A method's `&block`: what is called and passed on as it is, and what becomes an object.
def call(&b) = b.call(1, 2)
def call_all(*a, **k, &b) = b.call(*a, **k)
def named(&b) = b.(a: 1, b: 2)
def maybe(&b) = b&.call(3)
p call { |x, y| [x, y] }, call { |x| x }, call { |*x| x }, call { |x, (y, z)| [x, y, z] }
p call_all(1, [2, 3], k: 4) { |a, (b, c), k:| [a, b, c, k] }, call_all([1, 2]) { |a, b| [a, b] }
p named { |h| h }, named { |a:, b:| a + b }
p maybe, maybe { |x| x + 1 }

# Objects that are given instead.
p call(&->(x, y) { [y, x] }), (call(&->(x) { x }) rescue $!.message)
p call(&:+), call(&3.method(:clamp))
class Named < Proc
  def call(*) = [:own, super]
end
p call(&Named.new { |x| x })
p (call rescue [$!.class, $!.message])
p (call(&nil) rescue $!.class)
def order(log, &b)
  b.call((log << 1; 1), (log << 2; 2))
rescue NoMethodError
  log << :none
end
p order([]), order([]) { |*x| x }

# Passed on.
def each(&b) = [1, 2, 3].each(&b)
def two(&b) = each(&b)
def sent(&b) = send(:call, &b)
def anonymous(&) = call(&)
def all(...) = call_all(...)
def spread(list, &b) = call_all(*list, &b)
def keys(&b) = call_all(k: 1, &b)
l = []
p each { |x| l << x }, two { |x| l << -x }, l, sent { |x, y| x - y }, anonymous { |x, y| x * y }
p all(1, k: 2) { |x, k:| x + k }, all { 5 }, spread([3, 4]) { |x, y| x + y }, keys { |k:| k }
p [two { |x| break x * 10 }, call { next 7 }, call { |x, y| break y }]
def walk(t, &b) = t.each { |x| x.is_a?(Array) ? walk(x, &b) : b.call(x) }
def down(n, &b) = n == 0 ? b.call : down(n - 1, &b)
l = []
walk([1, [2, [3, [4]]], 5]) { |x| l << x }
p l, down(1000) { :bottom }
def pairs(&b) = { a: 1, b: 2 }.map(&b)
p pairs { |k, v| [v, k] }, pairs { |pair| pair }

# Objects of it.
def same(&b) = [b.equal?(b), pass(&b).equal?(b), b.class, b.lambda?, b.arity]
def pass(&b) = b
def late(&b)
  first = block_given?
  x = yield(1)
  o = b
  [first, x, o.call(2), yield(3), o.equal?(b), b.call(4), block_given?]
end
def kept(&b) = @kept = b
p same { |x, y| }, late { |x| x * 2 }, pass.inspect
kept { |x| x + 100 }
p @kept.call(1), @kept.(2)
given = proc { |x| x }
p pass(&given).equal?(given)
def seen(&b) = around { b.call(5) }
def around = yield
def replaced(&b)
  b = proc { |x| "new #{x}" } unless b
  b.call(6)
end
def other(&b) = (b ||= ->(*) { :default }; b.call(1))
p seen { |x| x }, replaced, replaced { |x| "given #{x}" }, other, other { :given }
def looked(&b) = binding.local_variable_get(:b).call(1)
def asked(&b) = [b ? 1 : 2, (b && 3), (4 unless b), !b, b.nil?, (b or 5).class, defined?(b), (6 if not b)]
p looked { |x| x + 1 }, asked, asked { }
def enum(&b)
  return to_enum(:enum) unless b
  b.call(1)
  b.call(2)
end
p enum.to_a, enum.next
def live(&b)
  b.call
  shown { :x }
end
def shown(&b) = b.binding.local_variable_get(:b)
p live { 8 }.call
def defaults(a = 5, &b) = [a, b&.call]
p defaults, defaults { 1 }, defaults(2) { 3 }
p method(:call).parameters, method(:all).parameters, method(:defaults).arity, method(:anonymous).parameters

# Above and below.
class Above
  def initialize(x, &b) = @x = b ? b.call(x) : x
  def m(*a, &b) = [a, b&.call]
  attr_reader :x
end
class Below < Above
  def initialize(x, &b) = super(x + 1, &b)
  def m(a, &b) = [super, super(a, &b), super(a) { :literal }, super(a, &nil), super(&b)]
end
p Below.new(1).x, Below.new(1) { |x| x * 10 }.x, Below.new(1).m(2) { :b }, Below.new(1).m(2)

# Elsewhere.
def thread(&b) = Thread.new(1, &b).value
def fiber(&b) = Fiber.new(&b).resume(2)
def evaluated(o, &b) = o.instance_exec(3, &b)
def defined_by(&b) = Class.new { define_method(:m, &b) }.new.m(4)
def made(&b) = [lambda(&b).lambda?, proc(&b).equal?(b), Proc.new(&b).equal?(b)]
p thread { |x| x }, fiber { |x| x }, evaluated("s") { |x| self * x }, defined_by { |x| x }
$VERBOSE = nil
p (made { } rescue $!.class)
def traced(&b) = b.call
def in_ensure(&b)
  yield
ensure
  b.call
end
l = []
in_ensure { l << l.size }
p l, (traced { raise "inside" } rescue $!.backtrace.map { _1[/'.*'/] })
def kept_across_collections(&b)
  20.times { GC.start; Array.new(100) { "x" } }
  b.call.call
end
p kept_across_collections { "a" + "b" and -> { :alive } }

# No object is made where none is wanted.
def objects
  before = GC.stat(:total_allocated_objects)
  yield
  GC.stat(:total_allocated_objects) - before
end
def passed_on
  i = 0
  while i < 200
    call { |x, y| y }
    two { |x| x }
    anonymous { |x, y| x }
    maybe { |x| x }
    asked2 { }
    i += 1
  end
end
def asked2(&b) = b ? 1 : 2
passed_on
p objects { passed_on } < 100, objects { 200.times { pass { } } } >= 200

# In hot loops, whole methods and parts of others.
def hot(n)
  sum = 0
  i = 0
  while i < n
    call { |x, y| sum += x + y }
    each { |x| sum += x }
    maybe { |x| sum -= x }
    maybe
    sum += late { |x| x }.size + (pass { |x| x }.call(i) & 1)
    i += 1
  end
  sum
end
p hot(3000)

# And when `call` is another.
class Proc
  alias call_before call
  def call(*a, **k, &b) = [:redefined, call_before(*a, **k, &b)]
end
p call { |x, y| x + y }, maybe { |x| x }, hot2 = (call { |x| x })
