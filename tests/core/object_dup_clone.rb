class T
  attr_accessor :a
  def initialize_copy(o)
    @a = o.a.dup
    super
  end
end
t = T.new
t.a = [1]
d = t.dup
d.a << 2
p t.a, d.a
def t.sing = :s
p t.clone.sing
p((t.dup.sing rescue :none))
p t.freeze.clone.frozen?
p t.dup.frozen?
p t.clone(freeze: false).frozen?
h = { a: [1] }
h2 = h.dup
h2[:b] = 2
h2[:a] << 2
p h.to_a, h2.to_a, h.clone.equal?(h)
s = "str".dup
s2 = s.clone
s2 << "x"
p s, s2, Marshal.load(Marshal.dump([1, { a: "x" }, nil, 1.5, :s, 2**70])).size
e = Class.new(StandardError).new("m")
p e.dup.message
p((1..2).dup)
p :a.clone
p nil.clone
p 5.clone
p method(:p).clone.class
