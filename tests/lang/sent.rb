# `send` with plain arguments: methods in Ruby are entered without a frame in between.
class A
  def one(x) = [:one, x]
  def two(x, y) = [:two, x, y]
  def none = :none
  def opt(x, y = 2) = [x, y]
  def rest(*l) = l
  def kw(a:, b: 1) = [a, b]
  def blk = block_given? ? yield : :no_block
  def deep(n) = n == 0 ? :end : send(:deep, n - 1)
  def raising = raise("inside")
  define_method(:defined) { |x| [:defined, x] }
  attr_accessor :attr
  def method_missing(n, *a) = n == :nothing ? [:missing, a] : super
  def respond_to_missing?(n, _) = n == :nothing
  private def hidden(x) = [:hidden, x]
  protected def guarded = :guarded
end
class B < A
  def one(x) = [:b, super]
end
def all(o, name)
  [o.send(:one, 1), o.send(:two, 1, 2), o.__send__(:none), o.send(:opt, 1), o.send(:opt, 1, 3), o.send(:rest, 1, 2, 3), o.send(:kw, a: 1), o.send(:blk), o.send(:blk) { 5 },
    o.send(:defined, 4), o.send(:attr=, 6), o.send(:attr), o.send(:nothing, 7), o.send(:hidden, 8), o.send(:guarded), o.send("one", 9), o.send(name, 10), o.send(:class), o.send(:deep, 2000)]
end
2.times { p all(A.new, :one), all(B.new, :hidden) }
def each_name(o, names) = names.map { |n| o.send(n, 1) }
p each_name(A.new, %i[one opt rest hidden defined nothing one]), (A.new.send(:one) rescue $!.message), (A.new.send(:one, 1, 2) rescue $!.message)
p (A.new.send rescue $!.message), (A.new.send(1) rescue $!.message), (A.new.send(:unknown, 1) rescue $!.class), (A.new.public_send(:hidden, 1) rescue $!.class)
def trace(o) = o.send(:raising)
p((trace(A.new) rescue $!.backtrace.first(3).map { _1[/'.*'/] }))
def hot(o, n)
  i = 0
  l = nil
  while i < n
    l = o.send(:two, i, 1)
    i += 1
  end
  l
end
p hot(A.new, 20000), hot(B.new, 10)
class A
  def two(x, y) = [:again, x, y]
end
p hot(A.new, 3)
def A.new_send = :own
o = A.new
def o.send(*a) = [:own_send, a]
p hot(o, 2)
module R
  refine(A) { def two(x, y) = [:refined, x] }
end
using R
p A.new.send(:two, 1, 2), hot(A.new, 1)
1.send(:+, 2).then { p _1 }
p nil.send(:to_a), :a.send(:<=>, :b), A.send(:new).class, A.send(:instance_method, :one).name
