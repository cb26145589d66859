# `super` in a block whose self is no object of the method's class, and without arguments in a method that is a block.
def t
  p yield
rescue => e
  p [e.class, e.message.sub(/0x\h+/, "")]
end
class Above; def foo(*a) = [:above, a]; end
class A < Above
  def foo = Object.new.instance_eval { super() }
  def mine = [1].map { foo2 }
  def foo2 = [2].map { |x| instance_exec(x) { |y| y } }
end
t { A.new.foo }
module M; def foo = Object.new.instance_eval { super() }; end
class B < Above; include M; end
class C < B; end
t { B.new.foo }
t { C.new.foo }
class D < Above; def foo(x = 1) = [1].map { super() }; end
t { D.new.foo }
class E < Above; def foo = self.class.new.then { |o| o.instance_eval { super() } }; end
t { E.new.foo }
class F < Above; define_method(:foo) { super() }; end
t { F.new.foo }
class G < Above; define_method(:foo) { super }; end
t { G.new.foo }
def made = Class.new(Above) { define_method(:foo) { super } }
t { made.new.foo }
def made2 = Class.new(Above) { define_method(:foo) { [1].map { super() } } }
t { made2.new.foo }
t { Class.new(Above) { def foo = Class.new.class_eval { super() } }.new.foo.class }
