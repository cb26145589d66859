# Blocks of `&:name`, which builtins call in a loop as blocks that were written: what may be seen of that.
class P
  def initialize(v) = @v = v
  def boom = raise("boom #{@v}")
  def deep = caller(0)
  def locs = caller_locations(1, 3).map(&:to_s)
  protected def prot = 1
  private def priv = 2
  def all(o) = o.map(&:prot)
  def method_missing(n, *a) = n == :mm ? [:mm, a] : super
  def respond_to_missing?(*) = false
end
o = [P.new(1), P.new(2)]
def show
  p yield
rescue => e
  puts "#{e.class}: #{e.message}", e.backtrace
end
show { o.map(&:boom) }
show { o.map(&:deep).first }
show { o.map(&:locs).first }
show { o.map(&:prot) }
show { o.first.all(o) }
show { o.map(&:priv) }
show { o.map(&:mm) }
show { o.map(&:nope) }
show { [1, nil].sum(&:abs) }
show { [[1, 2], [3]].map(&:first) }
show { [[1, 2], [3]].each_with_index.map(&:first) }
show { { a: 1, b: 2 }.map(&:first) }
show { { a: 1, b: 2 }.min_by(&:last) }
show { [3, 1, 2].sort(&:<=>) }
show { [3, 1, 2].inject(&:+) }
show { [[1, 2], [3, 4]].to_h(&:reverse) }
show { %w[a b].each_with_index(&:*) }
show { 3.times.map(&:succ) }
show { 3.times(&:succ) }
show { (1..4).select(&:even?) }
show { (1..4).partition(&:even?) }
show { (1..4).each_slice(2).map(&:sum) }
show { (1..4).each_slice(2, &:sum) }
show { (1..4).group_by(&:odd?) }
show { [nil, 1, [], "", {}].map(&:nil?) }
show { ["", [], {}].map(&:empty?) }
show { [1, 2.5, 3r].map(&:-@) }
show { [true, nil].map(&:!) }
show { ["a", :b].map(&:size) }
show { [3, 1, 2].inject(10, &:-) }
show { [3, 2.5, 1r].inject(&:+) }
show { [2**62, 2**62].inject(&:*) }
show { [1, nil].partition(&:abs) }
show { [1, 2].find_index(&:boom) }
show { lambda(&:succ).arity }
show { proc(&:succ).lambda? }
show { instance_exec(1, &:succ) }
show { P.define_method(:shown, &:inspect) }
class Own
  include Enumerable
  def each = (yield 1; yield 2, 3; yield)
  def pass(&b) = [1, 2].map(&b)
  def sup(&) = [4, 5].sum(&)
end
class Sub < Own
  def pass = super(&:-@)
end
show { Own.new.map(&:inspect) }
show { Own.new.pass(&:succ) }
show { Own.new.sup(&:succ) }
show { Sub.new.pass }
show { [1, 2].send(:map, &:succ) }
show { [1, 2].method(:map).call(&:succ) }
show { [[1, 2], [3]].each(&:clear) }
show { [1, 2, 3].each_entry(&:to_s).class }
show { nil&.map(&:x).inspect }
show { [3, 1, 2].max_by(&:-@) }
show { [3, 1, 2].sort_by(&:itself) }
show { %w[b a].sort_by(&:upcase).map(&:to_sym) }
show { [1, 2].map(&:"foo bar") }
# Variables of the frame that the builtin was called in.
"z" =~ /z/
show { [Regexp].map(&:last_match).first[0] }
$_ = "xay"
show { [/y/].map(&:~) }
p $~
def own
  "q" =~ /q/
  [/a/, /b/].each(&:~)
  $~ && $~[0]
end
$_ = "b"
p own
show { [1, 2].zip([3, 4], &:sum) }
show { r = []; [1, 2].zip([3, 4], &->(*a) { r << a }); r }
show { r = []; [1, 2].zip([3, 4], &->(a, b) { r << [a, b] }); r }
show { r = []; (1..2).zip([3, 4], &r.method(:push)); r }
class Tree
  def initialize(below) = @below = below
  def depth = 1 + (@below.map(&:depth).max || 0)
end
show { 500.times.inject(Tree.new([])) { |t, _| Tree.new([t]) }.depth }
endless = Tree.new(list = [])
list << endless
begin
  endless.depth
rescue SystemStackError => e
  p e.message
end
class Symbol
  alias orig to_proc
end
x = [1, 2, 3]
show { x.map(&:to_s) }
module R; refine Integer do; def to_s = "refined"; end; end
using R
show { [1, 2].map(&:to_s) }
class Integer; def succ = 42; end
show { [1, 2].map(&:succ) }
tp = []
TracePoint.new(:call, :c_call, :b_call, :line) { |t| tp << [t.event, t.method_id, t.lineno] }.enable { ["a"].map(&:upcase) }
p tp
class Enables
  def on = TP.enable
  def off = TP.disable
end
seen = []
TP = TracePoint.new(:b_call, :b_return) { |t| seen << t.event }
[Enables.new, Enables.new].map(&:on) rescue p $!
TP.disable
p seen
class Symbol; def to_proc = proc { |x| "mine #{x}" }; end
show { [1, 2].map(&:to_s) }
