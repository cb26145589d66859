# `send` by name, alone and with a list: inlined, with other names, other receivers and other methods than before.
class Base
  def one(a) = a + 1
  def two(a, b) = [a, b]
  def none = :none
  def rest(*list) = list
  def opt(a, b = a + 1) = [a, b]
  def key(a, k: 1) = [a, k]
  def blk(a) = block_given? ? yield(a) : a
  attr_accessor :slot
  define_method(:of_block) { |a, b = 5| [a, b] }
  def inner(a) = send(:one, a) + __send__(:one, a)
  def where = caller(0, 3).map { |l| l[/in (.*)/, 1] }
  def deeper(n) = n == 0 ? 0 : send(:deeper, n - 1) + 1
  def self_sum(n) = (s = 0; n.times { |i| s += send(:one, i) }; s)
  private def hidden(a) = a * 2
  protected def guarded(a) = a * 3
end
class Other < Base
  def one(a) = a + 100
  def method_missing(name, *rest) = [:missing, name, rest]
  def respond_to_missing?(*) = true
end

def run(n = 2000)
  last = nil
  n.times { |i| last = yield(i) }
  last
end

b, o = Base.new, Other.new
p run { |i| b.send(:one, i) }, run { |i| b.__send__(:two, i, i + 1) }, run { b.send(:none) }, run { |i| b.public_send(:one, i) }
p run { |i| b.send(:hidden, i) }, run { |i| b.send(:guarded, i) }, run { |i| b.inner(i) }, b.self_sum(1000), run { b.deeper(20) }
p run { |i| b.send(:rest, i, 1) }, run { |i| b.send(:opt, i) }, run { |i| b.send(:key, i, k: 3) }, run { |i| b.send(:of_block, i) }
p run { |i| b.send(:blk, i) { |x| x * 2 } }, run { |i| b.send(:slot=, i) }, run { b.send(:slot) }
p run { |i| (i.odd? ? b : o).send(:one, i) }, run { |i| o.send(:unknown, i) }
p run { |i| b.send(i % 3 == 0 ? :one : :hidden, i) }, run { |i| b.send(i % 3 == 0 ? "one" : "hidden", i) }
p run { |i| b.send([:one, :none, :slot][i % 3], *([i] * (i % 3 == 0 ? 1 : 0))) }
# Builtins.
a = [3, 1, 2]
p run { a.send(:first) }, run { |i| a.send(:at, i % 3) }, run { |i| a.__send__(:[], i % 3) }, run { |i| i.send(:+, 1) }
p run { |i| i.send([:+, :-, :*][i % 3], 2) }, run { a.send(:sort) }, run { |i| a.send(i.odd? ? :min : :max) }
p run { a.send(:map) { |x| x + 1 } }, run { a.send(:inject, :+) }, run { "abc".send(:length) }, run { nil.send(:to_s) }, run { :s.send(:to_proc).call("s") rescue $!.class }
# Lists.
list, names, with_name = [7], [:one, 7], [:two, 7, 8]
p run { b.send(*names) }, run { b.send(*with_name) }, run { b.send(:one, *list) }, run { b.one(*list) }, run { b.two(1, *list) }
p run { |i| b.send(*(i.odd? ? names : with_name)) }, run { a.send(*[:at, 1]) }, run { a.at(*[1]) }, run { b.rest(*list) }, run { b.send(:rest, *list) }
p run { b.send(:rest, *list, &nil) }, run { b.send(:blk, *list) { |x| x + 1 } }, run { b.send(*names, &:to_s) }
l = [1, 2]
p run { b.send(:rest, *l).equal?(l) }, run { b.rest(*l).equal?(l) }, l
p run { b.rest(*nil) }, run { b.rest(*5) }, run { b.rest(*1..3) }, run { |i| b.rest(*(i.odd? ? [i] : i)) }
class List < Array; end
p run { b.rest(*List[1, 2]) }
# What looks at its caller.
p b.send(:where).first(2).map { |l| l[/\w+'$/] }, run { b.send(:where) }.first.end_with?("where'")
def mine = send(:binding).local_variables
def call_me = send(:block_given?)
def named = send(:__method__)
p run { mine }, run { call_me { } }, run { call_me }, run { named }
p send(:lambda) { |x| x }.lambda?, send(:proc) { |x| x }.lambda?, send(*[:lambda]) { |x| x }.lambda?
class Base
  send(:private)
  def now_private = 1
  send :public
  send(:define_method, :made) { 2 }
  send(*[:attr_reader, :read])
end
p Base.private_method_defined?(:now_private), Base.public_method_defined?(:made), Base.public_method_defined?(:read)
# Errors.
[-> { b.send }, -> { b.send(:nothing, 1) }, -> { b.send(:one) }, -> { b.send(:one, 1, 2) }, -> { b.send(1) }, -> { b.public_send(:hidden, 1) }, -> { b.send(*[]) }, -> { b.send(*[nil]) }, -> { a.send(:at) },
 -> { a.send(*[:at]) }, -> { b.send(:raise, "x") }, -> { a.send(:fetch, 9) }, -> { a.send(*[:fetch, 9]) }].each do |l|
  3.times { l.call rescue (@e = $!) }
  puts "#{@e.class}: #{@e.message.lines.first.chomp}"
end
# Others than before, at sites that are warm.
def at_site(o, i) = o.send(:one, i)
def with_list(o, list) = o.send(*list)
def builtin(o, i) = o.send(:at, i)
run { |i| at_site(b, i) }
run { with_list(b, names) }
run { |i| builtin(a, i % 3) }
class Base
  def one(a) = a + 5000
end
class Array
  def at(i) = [:at, i]
end
p at_site(b, 1), with_list(b, names), builtin(a, 1), run { |i| at_site(b, i) }
def b.one(a) = [:own, a]
p at_site(b, 1), with_list(b, names), run { |i| at_site(b, i) }, run { |i| at_site(Base.new, i) }
class Base
  undef one
end
p (at_site(Base.new, 1) rescue $!.class), (with_list(Base.new, names) rescue $!.class)
class Other
  def send(name, *) = [:own_send, name]
end
p at_site(o, 1), with_list(o, names), run { |i| at_site(o, i) }
module Refined
  refine Integer do
    def one(a) = [:refined, a]
    def to_s = "refined"
  end
end
using Refined
p run { |i| 5.send(:one, i) }, run { 5.send(:to_s) }, run { 5.send(*[:to_s]) }
calls = []
t = TracePoint.new(:call, :c_call) { |tp| calls << tp.method_id }
def traced(b) = (b.send(:two, 1, 2); b.send(*[:two, 1, 2]))
run { traced(b) }
t.enable { traced(b) }
p calls - [:send]
