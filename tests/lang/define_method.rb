class A
  %w[x y].each { |n| define_method(n) { |a = 1, *r, k: 2, &b| [n, a, r, k, b&.call] } }
  define_method(:from_method, instance_method(:x))
  p define_method(:ret) { return 5 }
  define_method(:lam, ->(v) { v * 2 })
end
a = A.new
p a.x
p a.y(3, 4, k: 5) { 6 }
p a.from_method
p a.ret
p a.lam(4)
begin
  a.lam
rescue ArgumentError => e
  p e.message
end
a.define_singleton_method(:solo) { |q| [self.class, q] }
p a.solo(1), a.singleton_methods
A.class_eval { def ce = :ce }
A.class_eval("def ce2 = :ce2", "file", 10)
p a.ce, a.ce2
a.instance_eval { @z = 9 }
p a.instance_variable_get(:@z), a.instance_eval("@z + 1"), A.instance_methods(false).sort
A.send(:remove_method, :ce)
p a.respond_to?(:ce)
class B < A
  undef_method :x
  undef y
end
p B.new.respond_to?(:x), B.method_defined?(:y), A.method_defined?(:y)
p a.public_send(:lam, 2), a.__send__(:lam, 3), A.instance_method(:lam).bind(a).call(5)
class C; end
p C.class_exec(3) { |v| v + 1 }, a.instance_exec(4) { |v| [@z, v] }
class D
  attr_writer :w
  attr_reader :r
  p(attr_accessor(:one, :two))
  p(private def hid = 1)
  private attr_reader :sec
end
p D.private_instance_methods(false).sort, D.public_instance_methods(false).sort
counter = 0
D.define_method(:inc) { counter += 1 }
D.new.inc
D.new.inc
p counter
p D.instance_method(:inc).arity
p D.method_defined?(:hid)
p D.private_method_defined?(:hid)
