# Methods that blocks are (define_method), called from machine code: with what is around them, and what ends them.
class Base
  def up(a) = a + 1000
  def kept = :base
end

class Some < Base
  total = 0
  list = [1, 2, 3]
  define_method(:plain) { :plain }
  define_method(:one) { |a| a + 1 }
  define_method(:two) { |a, b| [a, b] }
  define_method(:numbered) { _1 + _2 }
  define_method(:it_is) { it }
  define_method(:adds) { |n| total += n }
  define_method(:total) { total }
  define_method(:up) { |a| super(a) + 1 }
  define_method(:ends) do |a|
    return :small if a < 10
    next :middle if a < 20
    break :large if a < 30
    :huge
  end
  define_method(:finds) { |wanted| list.each { |x| return x * 10 if x == wanted }; nil }
  define_method(:own_local) do |a|
    b = a * 2
    c = nil
    3.times { |i| c = (c || 0) + b + i }
    [b, c, binding.local_variables.size > 2]
  end
  define_method(:ensures) do |a|
    begin
      return a
    ensure
      total += 1
    end
  end
  define_method(:rescues) { |a| Integer(a) rescue -1 }
  define_method(:selfish) { @v = (@v || 0) + 1 }
  define_method(:me) { [__method__, self.class] }
  define_method(:gives) { |a, &b| b ? b.call(a) : a }
  define_method(:optional) { |a, b = (a + 1)| [a, b] }
  define_method(:rest) { |a, *r, k: 2| [a, r, k] }
  define_method(:of_lambda, &->(x) { return x + 7 })
  define_method(:of_proc, &proc { |x, y| [x, y] })
  define_method(:of_symbol, &:to_s)
  define_method(:same, instance_method(:plain))
  define_method(:line) { |a| raise ArgumentError, "line" if a == 2900; a }
  define_method(:deep) { |n| n == 0 ? 0 : deep(n - 1) + 1 }
  private define_method(:hidden) { |a| a }
  def asks(a) = hidden(a)
end

def run(n = 3000)
  last = nil
  n.times { |i| last = yield(i) }
  last
end

s = Some.new
p run { s.plain }, run { |i| s.one(i) }, run { |i| s.two(i, 1) }, run { |i| s.numbered(i, 2) }, run { |i| s.it_is(i) }
p run { |i| s.adds(i) }, s.total, run { |i| s.up(i) }
p [5, 15, 25, 35].map { |a| run { s.ends(a) } }
p run { |i| s.finds(i % 4) }, run { |i| s.finds(1 + i % 2) }
p run { |i| s.own_local(i) }, run { |i| s.ensures(i) }, s.total, run { |i| s.rescues(i.odd? ? "x" : "12") }
p run { s.selfish }, run { s.me }, run { |i| s.gives(i) { |x| x * 2 } }, run { |i| s.gives(i) }
p run { |i| s.optional(i) }, run { |i| s.rest(i, 1, k: 3) }, run { |i| s.of_lambda(i) }, run { |i| s.of_proc(i, 2) }
p run { |i| s.of_symbol(i) }, run { s.same }, run { |i| s.asks(i) }, run { s.deep(30) }
begin
  run { |i| s.line(i) }
rescue ArgumentError => e
  puts e.message, e.backtrace.first(3).map { |l| l[/\d+:.*/] }
end
begin
  run { |i| i > 2900 ? s.one : s.one(i) }
rescue ArgumentError => e
  puts e.message, e.backtrace.first(3).map { |l| l[/\d+:.*/] }
end
begin
  s.hidden(1)
rescue NoMethodError => e
  puts e.message
end

# What a method captures is the loop's own.
x = 0
Some.define_method(:inc) { x += 1 }
Some.define_method(:x) { x }
seen = 0
run do |i|
  x += 2
  s.inc
  seen += x - s.x
  x
end
p x, seen
def hot(o, n)
  sum = 0
  add = nil
  o.singleton_class.define_method(:bump) { |k| sum += k }
  i = 0
  while i < n
    sum += 1
    o.bump(i)
    sum += 1
    add = sum
    i += 1
  end
  [sum, add]
end
p hot(Some.new, 4000), hot(Some.new, 4000)

# Several methods of one block, at one site.
class Many
  %i[a b c d].each_with_index { |name, k| define_method(name) { |v| v * 10 + k } }
  %i[e f].each { |name| define_method(name) { name } }
end
m = Many.new
p run { |i| m.a(i) + m.b(i) + m.c(i) + m.d(i) }, run { [m.e, m.f] }
class One; define_method(:v) { |k| k + 1 }; end
class Two; define_method(:v) { |k| k + 2 }; end
class Three; def v(k) = k + 3; end
all = [One.new, Two.new, Three.new]
p run { |i| all[i % 3].v(i) }, all.map { |o| run { |i| o.v(i) } }

# It changes while it runs.
class Changing; define_method(:v) { 1 }; end
c = Changing.new
sum = 0
run do |i|
  Changing.define_method(:v) { 2 } if i == 1000
  Changing.class_eval { def v = 3 } if i == 2000
  Changing.define_method(:v) { i } if i == 2500
  sum += c.v
end
p sum
Changing.send(:remove_method, :v)
p((run { c.v } rescue $!.class))

module Refined
  refine(Many) { def a(v) = -v }
end
using Refined
p run { |i| m.a(i) }

# Who looks sees its frame.
class Some
  define_method(:looks) { |a| a == 2500 ? caller_locations(0, 2).map { |l| [l.lineno, l.base_label] } : a }
  define_method(:shows) { |a| b = a + 1; a == 2500 ? binding.local_variable_get(:b) : b }
  define_method(:changes) { |a| b = a; binding.local_variable_set(:b, -1) if a % 2 == 0; b }
  define_method(:throws) { |a| throw :out, a if a == 2000; a }
  define_method(:calls) { |a| one(a) + plain.size }
end
looked = []
run { |i| r = s.looks(i); looked << r unless r.is_a?(Integer) }
p looked
p run { |i| s.shows(i) }, run { |i| s.changes(i) }, catch(:out) { run { |i| s.throws(i) } }, run { |i| s.calls(i) }

events = []
trace = TracePoint.new(:call, :return) { |t| events << [t.event, t.method_id, t.lineno] }
run do |i|
  trace.enable if i == 2000
  s.one(i)
  trace.disable if i == 2001
end
p events.select { |e| e[1] == :one }

Some.define_method(:endless) { |n| endless(n + 1) }
begin
  s.endless(0)
rescue SystemStackError => e
  p e.class
end
f = Fiber.new { run { |i| s.one(Fiber.yield(i)) } }
f.resume
r = nil
2999.times { |i| r = f.resume(i) }
p r, f.resume(8)
def in_lambda(l, n)
  i = 0
  v = nil
  while i < n
    v = l.call(i)
    i += 1
  end
  v
end
p in_lambda(->(a) { return a * 2 if a > 5; a }, 4000), in_lambda(lambda { |a| break a * 3 if a > 5; a }, 4000)
p [1, 2, 30].map(&->(a) { return a * 2 if a > 5; a }), 40.times.map(&lambda { |a| return -a if a.odd?; a }).sum
def via_proc(list) = list.each { |a| pr = proc { |b| return b if b > 5 }; pr.call(a) }
p run { via_proc([1, 7, 8]) }
# Defaults, keywords and a block, with what is around them, inlined and not.
class Given
  base = 10
  define_method(:opt) { |a, b = (a + base), c = (base + b)| [a, b, c] }
  define_method(:key) { |a, k: base, l:| [a, k, l] }
  define_method(:both) { |a, b = 2, k: (a + b)| [a, b, k] }
  define_method(:more) { |a = 1, *r, k: 2, &b| [a, r, k, b && b.call] }
  define_method(:counts) { |a, b = 1| base += b; [a, base] }
  define_method(:early) { |a, b = 0| return :small if a + b < 1000; :large }
  define_method(:lists) { |a, b = nil| [a, b].map { |x| x && x + base } }
  define_method(:fails) { |a, b = raise(ArgumentError, "none")| [a, b] }
end
g = Given.new
p run { |i| g.opt(i) }, run { |i| g.opt(i, 1) }, run { |i| g.opt(i, 1, 2) }, run { |i| g.key(i, l: 1) }, run { |i| g.key(i, k: 3, l: i) }
p run { |i| g.both(i) }, run { |i| g.both(i, 1) }, run { |i| g.both(i, k: 7) }, run { |i| g.both(i, 1, k: 7) }
p run { |i| g.more }, run { |i| g.more(i, 2, k: 5) { :b } }, run { |i| g.counts(i) }, run { |i| g.counts(i, 2) }, run { |i| g.early(i) }, run { |i| g.early(i, 1) }, run { |i| g.lists(i) }, run { |i| g.lists(i, i) }
p run { |i| g.fails(i, 2) }
[-> { g.opt }, -> { g.opt(1, 2, 3, 4) }, -> { g.key(1) }, -> { g.key(1, l: 1, x: 2) }, -> { g.fails(1) }].each { |l| run(50) { l.call } rescue puts "#{$!.class}: #{$!.message}" }
def many(g, i) = g.opt(*[i, 2].first(i % 3))
p (run { |i| many(g, i) } rescue $!.message), (run { |i| many(g, 1 + i % 2) })
class Given
  define_method(:opt) { |a, b = 9| [:new, a, b] }
  define_method(:key) { |a, l: 0| [:new, a, l] }
end
p run { |i| g.opt(i) }, run { |i| g.key(i, l: 1) }
