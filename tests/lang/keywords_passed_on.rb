# Keywords and splats through everything that only passes a call on: the callee sees what a direct call would have given it.

def names(a = :none, *rest, z: 0, y:, **more) = [a, rest, z, y, more]
def needs(a, b = :b, *c, d, k: :k) = [a, b, c, d, k]
def opts(**all) = all
def plain(*all) = all
def told = yield
def shown
  p yield
rescue ArgumentError, NameError, TypeError => e
  puts "#{e.class}: #{e.message.lines.first.chomp}"
end

one, none = [1], []
shown { names(*one, y: 1) }
shown { names(*none, y: 1, z: 2, w: 3) }
shown { names(*one, 2, *one, y: 1, w: 3) }
shown { needs(*one, 2, k: 3) }
shown { needs(1, *one, 3, 4, k: 5) }
shown { needs(*one, k: 5) }
shown { names(*one, z: 1) }
shown { send(:names, y: 2) }
shown { send(:names, *one, y: 2, v: 3) }
shown { __send__(*[:names, 7, 8], y: 2) }
shown { send("names", 1, y: 2) }
shown { send(:opts, a: 1, b: 2) }
shown { send(:plain, a: 1, b: 2) }
shown { send(*[:plain], **{}) }
shown { send(a: 1) }
shown { send(:no_such_name, a: 1) }
shown { send(:names, 1, w: 2) }
shown { send(:send, :names, y: 1) }

# Procs and lambdas.
l = lambda { |a, b = 2, *c, k: 3, **more| [a, b, c, k, more] }
shown { l.call(1, k: 4) }
shown { l.(*one, 5, 6, k: 4, m: 1) }
shown { l[1, m: 1] }
shown { l.yield(k: 1) }
shown { l.send(:call, 1, k: 9) }
pr = proc { |a, b, k: 3| [a, b, k, self.class] }
shown { pr.call(1, k: 4) }
shown { pr.call([1, 2], k: 4) }
shown { pr.call(1, 2, 3, k: 4) }
shown { pr.call(1, 2, k: 4) }
shown { pr.call(1, 2, j: 4) }
shown { proc { |a, k: 1| [a, k] }.call([1, 2], k: 4) }
shown { proc { |a, *b, k: 1| [a, b, k] }.call([1, 2], k: 4) }
shown { proc { |a, **o| [a, o] }.call({b: 1}) }
shown { proc { |a| a }.call(b: 1) }
def breaks(&b) = [b.call(1, k: 2), :not_reached]
shown { breaks { |a, k:| break [a, k] } }
def returns = [1].each { |v| proc { |a, k:| return [a, k] }.call(v, k: 3) }
shown { returns }
shown { lambda { |k:| return k }.call(k: 8) }
shown { Proc.new { |k:, &b| b.call(k) }.call(k: 3) { |v| v * 2 } }
counter = 0
add = ->(by: 1) { counter += by }
3.times { add.call(by: 2) }
shown { counter }
made = Array.new(3) { |i| ->(k: 0) { [i, k] } }
shown { made.map { |f| f.call(k: 5) } }
shown { eval("->(k:, j: k) { [k, j] }").call(k: 1) }

# Methods from blocks.
class Point
  attr_reader :x, :y
  def initialize(x = 0, y: 0, &b)
    @x, @y = x, y
    instance_eval(&b) if b
  end
  define_method(:move) { |dx = 0, *all, dy: 0, **more, &b| [@x + dx, @y + dy, all, more, b&.call] }
  define_method(:told) { |*all| all }
  def method_missing(name, *args, k: nil, **more, &b)
    return super if name == :unknown
    [name, args, k, more, b&.call]
  end
  def respond_to_missing?(name, all = false) = name != :unknown
end
pt = Point.new(*one, y: 2)
shown { [pt.x, pt.y] }
shown { Point.new(y: 3) { @y += 1 }.y }
b = proc { :block }
shown { Point.new(*one, y: 3, &proc { @x = 9 }).x }
shown { pt.move(dy: 1) }
shown { pt.move(1, 2, dy: 1, dz: 4) { 5 } }
shown { pt.move(*one, dy: 1, &b) }
h = {dy: 4, q: 1}
shown { pt.move(**h) }
shown { pt.told(**h) }
shown { pt.told(a: 1) }
shown { h }
shown { pt.send(:move, 1, dy: 2) }

# method_missing.
shown { pt.nothing }
shown { pt.nothing(1, 2, k: 3, j: 4) { 5 } }
shown { pt.nothing(*one, **h, &b) }
shown { pt.nothing(*one) }
shown { pt.nothing(*Array.new(20) { _1 }) }
shown { pt.unknown(1, k: 2) }
shown { pt.send(:nothing, 1, k: 2) }
class Sealed
  def method_missing(name, *args) = [name, args]
  private def hidden(k:) = k
  protected def guarded(k:) = k
end
shown { Sealed.new.hidden(k: 1) }
shown { Sealed.new.guarded(k: 1) }
shown { Sealed.new.other({k: 1}, **{}) }
shown { Sealed.new.send(:hidden, k: 1) }

# What is passed on is the callee's own.
kept = {a: 1}
def keeps(**all) = all.merge!(b: 2)
shown { [keeps(**kept), send(:keeps, **kept), ->(**o) { o[:c] = 3; o }.call(**kept), kept] }
class Point
  define_method(:keeps) { |**all| all[:d] = 4; all }
end
shown { [pt.keeps(**kept), kept] }
list = [1, 2]
def changes(*all, from) = (all << 9; [all, from])
shown { [changes(*list), list] }
def first_changed(a, *rest) = [a, rest]
changing = Object.new
changing.define_singleton_method(:to_proc) { list << :late; proc {} }
shown { first_changed(*list, &changing) }
shown { list }
def forwards(...) = first_changed(...)
shown { forwards(*list) }
shown { forwards(1, 2) }
def forwards_more(*, **, &) = [names(*, **, &), needs(*, 5, &)]
shown { forwards_more(1, y: 2) }
def one_more(...) = plain(0, ...)
shown { [one_more(*list, k: 1), list] }
shown { plain(*1..3) }
shown { plain(*nil) }
shown { plain(*{a: 1}) }
class Splitting
  def each_pair(list) = (yield(*list); yield(*list))
  def []=(*all)
    @all = all
  end
  def [](*all) = (@got = all; 1)
  attr_reader :all, :got
end
sp = Splitting.new
shown { sp.each_pair(list) { |*all| all << 0 }; list }
ix = [1, 2]
sp[*ix] = 5
shown { sp.all }
sp[*ix] += 1
shown { [sp.all, sp.got, ix] }

# ruby2_keywords.
class Old
  ruby2_keywords def method_missing(name, *args) = target(*args)
  ruby2_keywords def pass(*args) = target(*args)
  def target(a = nil, *rest, k: 0) = [a, rest, k]
end
shown { Old.new.anything(1, k: 2) }
shown { Old.new.pass(1, k: 2) }
shown { Old.new.send(:pass, 1, k: 2) }
shown { Old.new.pass(1, {k: 2}) }

# A collection in between finds everything.
def collects(a, *rest, k:, **more)
  GC.start
  [a, rest, k, more]
end
shown { send(:collects, "a" * 3, *["b" * 3, "c" * 3], k: "d" * 3, j: "e" * 3) }
shown { ->(k:) { GC.start; [k, "x" * 2] }.call(k: "d" * 30) }
# A body that calls itself deeply.
deep = ->(n:, f:) { n == 0 ? :end : f.call(n: n - 1, f: f) }
shown { deep.call(n: 2000, f: deep) }
endless = ->(k:, f:) { f.call(k: k, f: f) + 1 }
begin
  endless.call(k: 1, f: endless)
rescue SystemStackError
  puts "too deep"
end

# Procs of Symbols, and calls that pass a call on with plain arguments.
class Point
  def far(a = 0, *b, k: 0, **more) = [@x, a, b, k, more]
  private def hid(k: 0) = k
end
far = :far.to_proc
shown { far.call(pt, 1, k: 2) }
shown { far.(pt, *list, k: 2, j: 3) }
shown { far.(*[pt, 1], **kept) }
shown { far.call(pt) }
shown { :hid.to_proc.call(pt, k: 1) }
shown { :move.to_proc.call(pt, 1, dy: 3) }
shown { :other.to_proc.call(pt, 1, k: 3) }
shown { :upcase.to_proc.call("a") }
shown { send(:plain, 1, 2) }
shown { send(:told) { 5 } }
shown { send(:proc) { 5 }.call }
shown { public_send(:plain, k: 1) }
shown { pr.call([1, 2]) }
shown { pr.call }
shown { l.call }
shown { [[1, 2], [3, 4]].each { |e| pr.call(e) }.size }
def block_arguments(&b) = [b.call(1), b.(2, 3), b[[4, 5]], b.yield]
shown { block_arguments { |a, b = :b| [a, b] } }
def throws(&b) = [1, b.call, 2]
shown { throws { next 7 } }
shown { throws { break 8 } }
shown { catch(:out) { throws { throw :out, 9 } } }
kept_proc = nil
def keeps_block(&b) = b
kept_proc = keeps_block { break 1 }
begin
  kept_proc.call
rescue LocalJumpError => e
  puts e.message
end
def line_of(&b) = b.call
begin
  line_of { raise "here" }
rescue => e
  puts e.backtrace.map { |l| l[/:(\d+:in .*)/, 1] }
end
def missing_one = no_such(1)
begin
  missing_one
rescue NoMethodError => e
  puts e.message
end
trace = []
tp = TracePoint.new(:call, :b_call, :return, :b_return) { |t| trace << [t.event, t.method_id] }
tp.enable { pt.nothing(k: 1); send(:plain, 1); ->(k:) { k }.call(k: 2) }
p trace

# `**` without a name.
def anonymous(*, **) = [opts(**), opts(z: 1, **), opts(**, a: 5), plain(**), {**}, [**]]
def nested(*, **) = [1].map { |v| opts(v: v, **) }
def through(...) = opts(...)
def doubly(...) = through(...)
def keyed(a: 0, **) = [a, opts(**)]
class Under
  def initialize(*, **) = @all = nil
  def over(*a, **k) = [a, k]
end
class Over < Under
  def initialize(*, **) = super
  def over(*, **) = super
end
shown { anonymous(**kept) }
shown { anonymous }
shown { anonymous(**{}) }
shown { nested(1, **kept) }
shown { nested }
shown { [through(**kept), through, doubly(**kept), doubly(b: 1), doubly] }
shown { [keyed(**kept), keyed(b: 1), keyed(a: 1, b: 2), keyed] }
shown { Over.new(1, **kept).over(2, **kept) }
shown { Over.new.over }
shown { kept }
shown { method(:anonymous).unbind.bind_call(self, **kept) }
