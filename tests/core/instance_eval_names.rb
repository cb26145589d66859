# Constants in the text of an instance_eval: the receiver's class first, then the places around, then its ancestors.
class Base; LOW = :base; HIGH = :base; end
class Thing < Base; OWN = :thing; end
module Around
  LOW = :around
  class Caller
    OWN = :caller
    MINE = :mine
    def ask(o, name) = o.instance_eval(name)
    def block(o) = o.instance_eval { OWN }
  end
end
c = Around::Caller.new
t = Thing.new
p c.ask(t, "OWN"), c.ask(t, "MINE"), c.ask(t, "LOW"), c.ask(t, "HIGH"), c.block(t)
t.singleton_class.const_set(:OWN, :single)
p c.ask(t, "OWN"), c.ask(Thing.new, "OWN")
p c.ask(Thing, "LOW")
p c.ask(t, "Module.nesting.first") == t.singleton_class, c.ask(t, "Module.nesting")[1..]

# What it defines is the receiver's alone.
t.instance_eval "class Inner; end; FRESH = 1; def shown = 2"
p t.singleton_class.constants(false).sort, t.shown, Thing.new.respond_to?(:shown)
p defined?(FRESH), t.instance_eval("FRESH")
p((1.instance_eval("X = 1") rescue $!.class), 1.instance_eval("self + 1"))

class Vars
  @@v = :callers
  def see(o) = o.instance_eval("@@v")
end
p Vars.new.see(t)

class Bare < BasicObject
  def self.look = [defined?(Kernel), defined?(::Kernel)]
end
p Bare.look
