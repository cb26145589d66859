# The methods of a copied class look for constants and class variables in the copy.
class Original
  def const = NAME
  def count = @@count
  def count=(n)
    @@count = n
  end
  NAME = :original
  @@count = 0
end
One = Original.clone
Two = Original.dup
One.send(:remove_const, :NAME)
class One; NAME = :one; end
Two.send(:remove_const, :NAME)
class Two; NAME = :two; end
p Original.new.const, One.new.const, Two.new.const
One.new.count = 1
Two.class_variable_set(:@@count, 2)
p Original.new.count, One.new.count, Two.new.count
module Mod; def const = VALUE; end
Mod1 = Mod.clone
module Mod1; VALUE = 1; end
p Class.new { include Mod1 }.new.const
p((Class.new { include Mod }.new.const rescue $!.class))
