# What a copy has of its original, and names of methods of classes without one.
# What takes over the content is `initialize_copy`.
class Plain < Array; def initialize_copy(*) = self; end
class Text < String; def initialize_copy(*) = self; end
class Map < Hash; def initialize_copy(*) = self; end
p Plain[1, 2].dup, Plain[1, 2].clone, Text.new("ab").clone, Text.new("ab").dup, Map[1, 2].dup
class Full < Array; def initialize_copy(o) = super.push(:copied); end
p Full[1, 2].dup
StrClone = String.clone
p Marshal.load(Marshal.dump(StrClone.new("text"))).class
class Anonymous
  def self.label = caller_locations(1, 1)[0].label
end
c = Class.new { def one = Anonymous.label; def self.two = Anonymous.label }
c.const_set(:Inner, Class.new { def three = Anonymous.label; def self.four = Anonymous.label })
p c.new.one, c.two, c::Inner.new.three, c::Inner.four
p caller(100, 0), caller(100), caller(100, 1)
