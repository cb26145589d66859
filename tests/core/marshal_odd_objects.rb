# Objects with prepended modules, those that answer themselves when asked what to write, and data that would change classes.
module Marked; end
module Noted; end
class Plain; end

def tried
  p yield
rescue => e
  p e.class, e.message
end

o = Plain.new
o.singleton_class.prepend Marked
o.singleton_class.prepend Noted
data = Marshal.dump(o)
p data
p Marshal.load(data).singleton_class.ancestors.map { |m| m.singleton_class? ? :singleton : m }.first(4)

tried { Marshal.load("\x04\be:\vMarkede:\vStringo:\nPlain\x00") }
tried { Marshal.load("\x04\be:\nPlainI\"\x06x\x06:\x06ET") }
tried { Marshal.load("\x04\be:\nPlaino:\nPlain\x00").class }

class Same
  def marshal_dump = dup
end
class Below < Same
  def marshal_dump = Same.allocate
end
tried { Marshal.dump(Same.new) }
tried { Marshal.dump(Below.new) }

t = Time.utc(0)
t.instance_eval { @v = t }
tried { Marshal.dump(t) }

class Told
  attr_accessor :text

  def _dump(_level) = @text
  def self._load(_text) = new
end
u = Told.new
u.text = "x".dup
u.text.instance_variable_set(:@u, [u])
tried { Marshal.dump(u) }
u.text.instance_variable_set(:@u, [Told.new.tap { it.text = "y" }])
tried { Marshal.dump([u, u]) }

tried { Marshal.load("\x04\x08Ic\nPlain\x06:\x0e@ivar_bug\"\x08bug") }
tried { Marshal.load("\x04\x08Im\vMarked\x06:\x0e@ivar_bug\"\x08bug") }
tried { Marshal.load("\x04\x08[\x07c\nPlainI@\x06\x06:\x0e@ivar_bug\"\x08bug") }
p Plain.instance_variables, Marked.instance_variables
a = Marshal.load("\x04\x08[\x07\"\x06aI@\x06\x06:\x08@iv\"\x08bug")
p a, a[0].equal?(a[1]), a[0].instance_variable_get(:@iv)
