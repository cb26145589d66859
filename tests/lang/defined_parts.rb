# `defined?` looks at each part of an expression, and runs each call of a chain once.
$called = 0
def self.t = ($called += 1; self)
def calls = ($called = 0; r = yield; [r, $called])
p calls { defined?(t) }, calls { defined?(t.t) }, calls { defined?(t.t.t) }, calls { defined?(t.t.t.t.t) }
p calls { defined?(t.t.nope.t) }
p defined?([*a]), defined?(itself(*a)), defined?([*itself]), defined?(itself(*itself))
p defined?({a: a}), defined?({a => 1}), defined?({1 => a}), defined?({a: 1}), defined?({**a}), defined?(p(k: a)), defined?(p(**itself))
p defined?((;x)), defined?((x;)), defined?((x)), defined?((
  x
)), defined?((1; x))
class Hidden; end
module Refining
  refine(Hidden) do
    def pub = 1
    private def priv = 2
  end
  def self.before(x = Hidden.new) = [defined?(x.pub), x.instance_eval { defined?(priv) }]
  using self
  def self.after(x = Hidden.new) = [defined?(x.pub), x.instance_eval { defined?(priv) }]
end
p Refining.before, Refining.after
class Raising; def self.x = raise("no"); end
p defined?(Raising.x.y), defined?(Raising.x)
