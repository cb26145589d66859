# What is active around a refine block is active in it; what an evaluated text activates ends with it; other odds of refinements.
class Target; end
module One
  refine(Target) { def one = :one }
end
module Two
  using One
  refine(Target) { def two = [one, Target.new.one] }
end
module Uses
  using Two
  def self.run = Target.new.two
end
p Uses.run

module Up
  refine(String) { def upcase = reverse }
end
p eval('using Up; "abc".upcase'), "abc".upcase
b = binding
p eval('using Up; "abc".upcase', b), eval('"abc".upcase', b)

module Same
  refine(Target.singleton_class) { def ===(o) = o == 3 }
end
module Asks
  using Same
  def self.case(v)
    case v
    when Target then :when
    else :else
    end
  end
  def self.in(v)
    case v
    in Target then :in
    else :else
    end
  end
  def self.plain(v) = Target === v
end
p Asks.case(3), Asks.in(3), Asks.plain(3), Asks.case(4), Target === 3

r = nil
Module.new { r = refine(Target) { def three = super } }
p((r.instance_method(:three).bind("x") rescue $!.class), r.instance_method(:three).bind(Target.new).class)

# A Symbol's to_proc is of no scope, `&:name` of its own.
module Scope
  using(Module.new { refine(Kernel) { def itself = 0 } })
  TO_PROC = :itself.to_proc
  p [1].map(&:itself)
end
p Scope::TO_PROC[1], :itself.to_proc.equal?(:itself.to_proc)

$stderr = $stdout
eval <<~RUBY, nil, "text", 1
  module Constants
    refine(Target) do
      FROM_REFINE = 1
      @@from_refine = 2
    end
  end
RUBY
p Constants::FROM_REFINE, Constants.class_variables
