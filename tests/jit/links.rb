# Methods that call themselves: what they call is looked at once for an activation, and again where something could have changed.

def repeat(n) = n.times { |i| yield i }

# A redefinition in the midst of a recursion: what begins after it is another method.
class Counting
  def down(n)
    return [n] if n == 0
    redefine if n == @at
    [n] + down(n - 1)
  end

  def redefine
    @at = nil
    self.class.class_eval { def down(n) = [:new, n] }
  end

  def at(n)
    @at = n
    self
  end
end
repeat(300) { Counting.new.at(-1).down(9) }
p Counting.new.at(5).down(9)
p Counting.new.at(5).down(9)

# The same by a singleton method, by a module that is prepended, and by one object's own method.
class Sum
  def to(n) = n == 0 ? 0 : (change(n); n + to(n - 1))
  def change(n) = nil
end
class Single < Sum
  def change(n)
    return unless n == 4 && @asked
    def self.to(n) = 1000
  end

  def ask
    @asked = true
    self
  end
end
class Prepended < Single
  module Before
    def to(n) = 5000
  end

  def change(n) = n == 4 && @asked ? self.class.prepend(Before) : nil
end
repeat(300) { Sum.new.to(9) + Single.new.to(9) + Prepended.new.to(9) }
p [Sum.new.to(9), Single.new.ask.to(9), Single.new.to(9), Prepended.new.ask.to(9), Prepended.new.to(9)]

# Receivers of many shapes.
class Tree
  def initialize(n) = instance_variable_set("@v#{n % 6}", n)
  def depth(n) = n == 0 ? 0 : 1 + depth(n - 1)
  def other(n, list) = n == 0 ? 0 : 1 + list[n % list.size].other(n - 1, list)
  def grow(n)
    return instance_variables.size if n == 0
    instance_variable_set("@w#{n}", n)
    grow(n - 1)
  end
end
trees = (0...12).map { |n| Tree.new(n) }
p repeat(600) { |i| trees[i % 12].depth(6) + trees[i % 12].other(7, trees) }
p trees.map { |t| t.depth(5) + t.other(9, trees) }
p((0...300).map { |i| Tree.new(i).grow(5) }.uniq)

# A subclass that has its own method, and one that calls that of its superclass.
class Base
  def walk(n, out) = n == 0 ? out << [:base, 0] : walk(n - 1, out << [:base, n])
end
class Own < Base
  def walk(n, out) = n.odd? ? super(n, out << :own) : super
end
repeat(300) { Base.new.walk(5, []) ; Own.new.walk(5, []) }
p Base.new.walk(3, []), Own.new.walk(3, [])

# Aliases of one body; a private method; one by define_method; Integers and Symbols as self.
class Aliased
  def one(n) = n == 0 ? __method__ : one(n - 1)
  alias two one
  private def hidden(n) = n == 0 ? :hidden : hidden(n - 1)
  def open(n) = hidden(n)
  define_method(:defined) { |n| n == 0 ? :defined : defined(n - 1) }
end
repeat(300) { a = Aliased.new; a.one(3); a.two(3); a.open(3); a.defined(3) }
a = Aliased.new
p [a.one(3), a.two(3), a.open(3), a.defined(3)]
class Integer
  def sum_down = self <= 0 ? 0 : self + (self - 1).sum_down
  def self_times(n) = n == 0 ? self : self_times(n - 1)
end
class Symbol
  def again(n) = n == 0 ? self : again(n - 1)
end
class NilClass
  def again(n) = n == 0 ? self : again(n - 1)
end
repeat(300) { 9.sum_down; 9.self_times(5); :a.again(4); nil.again(4) }
p [9.sum_down, 9.self_times(5), (2**70).self_times(5), 1.5.respond_to?(:sum_down), :a.again(4), nil.again(4)]

# Ends by exceptions, with lines; what is rescued on the way; more depth than there is room for.
class Failing
  def down(n)
    raise ArgumentError, "at #{n}" if n == 0
    1 + down(n - 1)
  end

  def rescued(n)
    return raise("deep") if n == 0
    begin
      rescued(n - 1)
    rescue => e
      n > 3 ? raise : [n, e.message]
    end
  end

  def forever(n) = n + forever(n + 1)
  def ensured(n, out)
    return out if n == 0
    ensured(n - 1, out)
  ensure
    out << n
  end
end
repeat(300) { Failing.new.down(5) rescue 0; Failing.new.rescued(3); Failing.new.ensured(3, []) }
begin
  Failing.new.down(4)
rescue => e
  p e.message, e.backtrace.first(6).map { |l| l[/\d+:in .*/] }
end
p Failing.new.rescued(3), (Failing.new.rescued(6) rescue $!.message), Failing.new.ensured(4, [])
def too_deep
  Failing.new.forever(0)
rescue SystemStackError
  $!.class
end
p [0, 1, 2].map { too_deep }

# More arguments, locals, blocks, and numbers that grow too large.
def many(a, b, c, d)
  x = a + b
  y = nil
  y = [c] if d > 2
  d == 0 ? [x, y, c] : many(b, x, d, d - 1)
end
def five(a, b, c, d, e) = e == 0 ? a + b + c + d : five(b, c, d, a, e - 1)
def grows(n, x) = n == 0 ? x : grows(n - 1, x * 3)
def with_block(n, &b) = n == 0 ? b.call : with_block(n - 1, &b)
def yields(n) = n == 0 ? yield(0) : yields(n - 1) { |x| yield(x + 1) }
repeat(300) { many(1, 2, 3, 4); five(1, 2, 3, 4, 3); grows(3, 2); with_block(3) { 1 }; yields(3) { |x| x } }
p many(1, 2, 3, 9), five(1, 2, 3, 4, 7), grows(80, 3), with_block(4) { :b }, yields(4) { |x| [x] }
p [many(1.5, 2, 3, 4), grows(4, 1.5), grows(2, "ab" * 1) ] rescue p $!.class

# Fibers and threads within, and a trace that begins on the way.
def fibers(n) = n == 0 ? Fiber.yield(:in) : fibers(n - 1)
def threads(n) = n == 0 ? Thread.new { 7 }.value : threads(n - 1) + 1
repeat(100) { f = Fiber.new { fibers(5) }; f.resume; f.resume(1) }
repeat(50) { threads(3) }
f = Fiber.new { fibers(6) }
p f.resume, f.resume(9), threads(5)
$calls = 0
def traced(n)
  $trace.enable if n == 3 && $trace
  n == 0 ? 0 : 1 + traced(n - 1)
end
repeat(300) { traced(6) }
$trace = TracePoint.new(:call) { |t| $calls += 1 if t.method_id == :traced }
p traced(6), $calls
$trace.disable
$trace = nil
p traced(6), $calls

# A method that calls itself, also from its own blocks: these calls lead where its own ones do.
class Walk
  attr_reader :count
  def initialize
    @count = 0
    @order = []
  end
  def permute(n)
    @count += 1
    return @count if n == 0
    last = n - 1
    permute(last)
    last.downto(0) do |i|
      @order << i if @order.size < 5
      permute(last)
    end
  end
  def sum(tree)
    return tree unless tree.is_a?(Array)
    all = 0
    all += sum(tree[0]) if tree[0].is_a?(Integer)
    tree.each_with_index { |t, i| all += sum(t) if i > 0 || t.is_a?(Array) }
    all
  end
  def found(tree, wanted)
    return tree == wanted unless tree.is_a?(Array)
    return true if tree.empty? && found(0, wanted)
    tree.each { |t| return true if found(t, wanted) }
    false
  end
  def depth(n, &block)
    return block ? block.call : n if n == 0
    return depth(n - 1, &block) if n.odd?
    [1].map { |k| depth(n - k, &block) }.first
  end
  def raises(n)
    raise "bottom of #{caller(0).size > 10}" if n == 0
    raises(n - 1) if n > 50
    2.times { |i| raises(n - 1 - i) }
  rescue ArgumentError
    0
  end
end
w = Walk.new
p w.permute(6), w.count
tree = (1..6).inject(1) { |t, i| [i, t, [t, i]] }
60.times { w.sum(tree) }
p w.sum(tree), w.found(tree, 6), w.found(tree, 7), w.depth(9), w.depth(8) { :block }
begin
  w.raises(60)
rescue => e
  puts e.message
end

# What they lead to changes in the middle, for the class, for one object, by a module, and back.
class Turning
  def run(n, s)
    return s if n == 0
    s = run(n - 1, s + 1) if n.even?
    1.upto(2) { |i| s = run(n - 1, s + i) }
    s
  end
end
t = Turning.new
results = 40.times.map { t.run(7, 0) }.uniq
class Turning
  alias first_run run
  def run(n, s)
    n > 3 ? first_run(n, s) : s - n
  end
end
results << t.run(7, 0) << t.first_run(6, 0)
one = Turning.new
def one.run(n, s) = n == 2 ? s * 2 : super
results << one.run(7, 0) << one.first_run(7, 0) << t.run(7, 0)
class Turning
  prepend(Module.new { def run(n, s) = n.even? ? super : super + 1 })
end
results << t.run(7, 0) << one.run(7, 0)
p results
class Within
  def go(n, log)
    if n == 4 && log.size > 30
      self.class.class_eval { def go(n, log) = log << -n }
    end
    return log << n if n == 0
    go(n - 1, log)
    2.times { go(n - 1, log) }
    log
  end
end
p Within.new.go(5, []).tally, Within.new.go(5, [])
class Rewritten
  def at(n)
    return [n] if n == 0
    s = at(n - 1)
    x = n
    1.times { s += at(n - 1) if x > 1; x += s.size }
    1.times { x += 1 }
    s + [x]
  end
end
20.times { Rewritten.new.at(5) }
p Rewritten.new.at(4)
def self.tops(n) = n == 0 ? 1 : tops(n - 1) + [n - 1].sum { |k| tops(k) }
20.times { tops(9) }
p tops(10)
