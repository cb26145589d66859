# `tap`, `then` and `yield_self`: their block is part of the caller's machine code.
def run(n = 2000)
  last = nil
  n.times { |i| last = yield(i) }
  last
end
def tapped(x)
  seen = nil
  r = x.tap { |v| seen = v }
  [r, seen]
end
def chained(x) = x.then { |v| v + 1 }.then { |v| v * 2 }.tap { |v| @last = v }
def left(x) = x.tap { |v| break :broken if v > 1990 }
def returns(x) = (x.then { |v| return :early if v > 1990; v } ; :late)
def nexts(x) = x.then { |v| next :next if v.odd?; v }
def nested(x) = x.then { |a| (a + 1).then { |b| [a, b].then { |c| c.sum + x } } }
def without(x) = x.then { 7 }
def numbered(x) = x.then { _1 + it_of(_1) }
def it_of(x) = x.then { it }
def two(x) = [x, 2].then { |a, b| [b, a] }
def ensures(x)
  x.then { |v| begin; v + 1; ensure; @done = v; end }
end
def rescues(x) = x.then { |v| raise "odd" if v.odd?; v } rescue :rescued
def object(x) = x.yield_self { |v| v.to_s }
def redo_it(x) = (n = 0; x.tap { n += 1; redo if n < 3 }; n)
p run { |i| tapped(i) }, run { |i| chained(i) }, @last, run { |i| left(i) }, run { |i| returns(i) }, run { |i| nexts(i) }
p run { |i| nested(i) }, run { |i| without(i) }, run { |i| numbered(i) }, run { |i| two(i) }, run { |i| ensures(i) }, @done
p run { |i| rescues(i) }, run { |i| object([1, "a", nil, :s, 2.5][i % 5]) }, run { |i| redo_it(i) }
p run { |i| tapped([i, i.to_s, nil, true, :s, 1.5][i % 6]) }
# A Float in a register, and another kind than before.
def floats(n)
  s = 0.0
  n.times { |i| s = s.then { |v| v + i * 0.5 }.tap { |v| @f = v } }
  s
end
p floats(3000), @f
def changes(n) = (s = 1; n.times { |i| s = s.then { |v| i == 2500 ? v * 2**62 : v + 1 } }; s)
p changes(3000)
def line = 1.tap { |v| raise "here" }
begin
  run { |i| i > 1990 ? line : 1.tap { |v| v } }
rescue => e
  puts e.message, e.backtrace.first(3).map { |l| l[/in .*/] }
end
# Redefined: for one class, then for all.
class Own
  def tap = [:own, yield(1)]
  def then = :own_then
end
p run { |i| (i > 1900 ? Own.new : i).tap { |v| v } }.class, run { |i| (i > 1900 ? Own.new : i).then { |v| v } }
def warm(x) = x.tap { |v| @w = v }.then { |v| v + 1 }
p run { |i| warm(i) }
module Kernel
  def then = [:other, yield(self)]
end
p warm(1), run { |i| warm(i) }
