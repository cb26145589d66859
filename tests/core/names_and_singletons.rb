# Names that classes tell, blank classes, lists of methods.
k = Class.new { def self.name = "Shown" }
p((k.nope rescue $!.message), (k.new.nope rescue $!.message))
p String.name.equal?(String.name)
m = Module.new
p m.name
Late = m
p m.name, m.name.equal?(m.name)

c = Class.allocate
p((c.new rescue $!.message), (c.superclass rescue $!.message), (Class.new(c) rescue $!.message))
c.send(:initialize, Array) { def twice = self + self }
p c.superclass, c.new([1]).twice, c.singleton_class.superclass == Array.singleton_class
p((c.send(:initialize) rescue $!.message), (Integer.send(:initialize) rescue $!.message))
p((BasicObject.dup rescue $!.message))
p [Integer, Rational, Symbol, NilClass].map { |x| [x.respond_to?(:new), (x.new rescue $!.message)] }

o = Object.new
o.extend(Module.new { def from_module = 1 })
p o.singleton_method(:from_module).call, o.singleton_methods, o.singleton_methods(false)
class Low; def self.low = 1; private def hid = 1; end
class High < Low; def self.high = 1; private def own = 1; end
p High.singleton_methods.sort, High.singleton_methods(false)
p High.new.private_methods(false), Class.private_methods(false).include?(:initialize)

class << (u = Object.new)
  undef_method :singleton_method_added
end
begin
  def u.x = 1
rescue NoMethodError
  puts $!.message.sub(/0x\h+/, "0x")
end
n = Class.new(Numeric).new
begin
  def n.x = 1
rescue TypeError
  puts $!.message.sub(/#<.*/, "")
end
p n.singleton_methods

module Up; def deep = super + 1; end
class Deep; def deep = 1; end
p Up.instance_method(:deep).bind_call(Deep.new)
p Class.new { define_method(:add, &:+) }.new.add(1, 2)
class Own < Proc; end
mine = Own.new { 1 }
p Own.new(&mine).equal?(mine)

class Private; private def secret = 1; def respond_to_missing?(n, all) = n == :secret; end
p Private.new.respond_to?(:secret)
