# Objects that get modules and methods of their own: what call sites, `super`, constants and `respond_to?` have found before counts no longer where something changes.

class Node
  def name = "node"
  def size = 1
  def each = [1]
  def a = :a
  def b = :b
  def c = :c
  def d = :d
  def e = :e
  def f = :f
  def g = :g
  def h = :h
  def i = :i
end
module Loud
  def name = super + "!"
end
module Large
  def size = super + 100
end
def name_of(n) = n.name
def size_of(n) = n.size
def ask(n) = [name_of(n), size_of(n)]

n = Node.new
p ask(n)
n.extend(Loud)
p ask(n), ask(Node.new)
n.extend(Large)
p ask(n)
def n.name = super.upcase
p ask(n), ask(Node.new)

# Asked for more names than are remembered one by one.
all = ->(o) { [o.a, o.b, o.c, o.d, o.e, o.f, o.g, o.h, o.i] }
m = Node.new
def m.own = 1
p all[m]
module Last
  def i = :last
  def a = [super]
end
m.extend(Last)
p all[m], all[Node.new]

# A module that an extended object has gets methods and modules itself.
module Inner
  def d = :inner
end
k = Node.new.extend(Last)
p all[k]
module Last
  def b = :late
end
p all[k]
Last.include(Inner)
p all[k], all[Node.new.extend(Last)]
Last.remove_method(:b)
p all[k]

# Prepended to the object's own class; undefined, made private, removed there.
q = Node.new.extend(Loud)
p ask(q)
q.singleton_class.prepend(Module.new { def size = -super })
p ask(q)
q.singleton_class.undef_method(:name)
p((ask(q) rescue $!.class), ask(Node.new))
r = Node.new
def r.extra = 1
p name_of(r)
r.singleton_class.send(:private, :name)
p((name_of(r) rescue $!.class), r.send(:name))
r.singleton_class.send(:public, :name)
p name_of(r)
def r.name = "own"
p name_of(r)
r.singleton_class.remove_method(:name)
p name_of(r)

# What is missing, until there is a method, or one for what is missing.
s = Node.new
def s.other = 1
missing = ->(o) { o.missing rescue $!.class }
p missing[s], s.respond_to?(:missing)
s.extend(Module.new { def method_missing(name, *) = name == :missing ? :made_up : super; def respond_to_missing?(name, *) = name == :missing || super })
p missing[s], s.respond_to?(:missing)
s.extend(Module.new { def missing = :there })
p missing[s], missing[Node.new]

# `super` that finds another method later.
module Above
  def g = [:above, super]
end
t = Node.new
def t.g = [:own, super]
p t.g
t.extend(Above)
p t.g
Node.class_eval { def g = :changed }
p t.g, n.g

# Constants through an object's own class.
module With
  INNER = :with
end
u = Node.new
def u.x = 1
class << u
  def inner = INNER rescue $!.class
end
p u.inner
u.extend(Loud)
p u.inner
u.extend(With)
p u.inner
p u.singleton_class::INNER

# A copy has them, and goes its own way.
v = n.clone
p ask(v)
def v.size = 0
p ask(v), ask(n)

# Classes are objects whose subclasses answer, too.
class Kid < Node; end
def make(c) = c.label rescue $!.class
def Node.label = "node"
p make(Kid)
Kid.extend(Module.new { def label = super + "s kid" })
p make(Kid), make(Node)
def Node.label = "other"
p make(Kid), make(Node)

# Many, whose numbers are used again.
counts = Hash.new(0)
20.times do
  200.times do |x|
    o = Node.new
    o.extend(Loud) if x.odd?
    o.extend(Large) if x % 3 == 0
    counts[ask(o)] += 1
  end
  GC.start
end
p counts
