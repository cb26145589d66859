module Greet
  def greet = "hi from #{name}"
  def self.included(base)
    (@log ||= []) << base
    base.extend(ClassMethods)
  end
  def self.log = @log
  module ClassMethods
    def make(*a) = new(*a)
  end
end
class Person
  include Greet
  attr_reader :name
  def initialize(n) = @name = n
end
p Person.make("Ann").greet
p Greet.log
p Person.include?(Greet)
p Person.ancestors.take(2)
module Util
  module_function
  def helper(x) = x * 2
end
p Util.helper(4)
module Ext
  def self.extended(o) = puts("extended #{o.class}")
  def extra = :extra
end
s = "str"
s.extend(Ext)
p s.extra, s.singleton_class.include?(Ext), s.is_a?(Ext)
module A; def who = "A"; end
module B; def who = "B" + super; end
class C; include A; include B; end
p C.new.who, C.ancestors.first(3)
class D; include A, B; end
p D.ancestors.first(3)
p A.instance_methods
p Greet.instance_of?(Module)
p Module === A
module Self
  extend self
  def me = :me
end
p Self.me
class E
  def self.inherited(k)
    super
    (@subs ||= []) << k
  end
  def self.subs = @subs
end
class F < E; end
G = Class.new(E)
p E.subs.size, E.subs.first
module Late; end
class UsesLate; include Late; end
module Late; def late = 1; end
p UsesLate.new.late
module Priv
  private
  def hidden = 1
  public
  def shown = hidden
end
class UsesPriv; include Priv; end
p UsesPriv.new.shown
begin
  UsesPriv.new.hidden
rescue NoMethodError => e
  p e.name
end
p Comparable.instance_methods.sort
o = Object.new
class << o
  include A
  attr_accessor :acc
end
o.acc = 3
p o.who, o.acc
module Hook
  def self.method_added(m) = puts("added #{m}")
  def x; end
end
