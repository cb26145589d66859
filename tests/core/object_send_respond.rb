class Dyn
  def pub(a, k: 0) = [a, k]
  private def priv = :priv
  protected def prot = :prot
  def self.cls = :cls
end
d = Dyn.new
p d.send(:pub, 1, k: 2)
p d.public_send(:pub, 1)
p d.__send__(:priv)
p((d.public_send(:priv) rescue :no))
p d.respond_to?(:pub)
p d.respond_to?(:priv)
p d.respond_to?(:priv, true)
p Dyn.respond_to?(:cls)
p Dyn.send(:cls)
p d.method(:pub).call(3, k: 4)
p d.methods.include?(:pub)
p d.public_methods(false)
p d.private_methods(false)
p d.protected_methods
p Dyn.instance_method(:priv).bind_call(d)
p d.then { |x| x.pub(0) }
p d.tap { |x| x.pub(1) }.equal?(d)
p [1, 2, 3].send(:[], 1)
p 5.send(:+, 3)
p "a".public_send(:<<, "b")
p %w[upcase reverse].map { |m| "abc".send(m) }
p [[:+, 2], [:*, 3]].inject(1) { |acc, (op, n)| acc.send(op, n) }
p 3.public_send("clamp", 1, 2)
d.instance_eval { @x = 1 }
p d.instance_variable_get(:@x)
p d.instance_exec(5) { |n| @x + n }
p Dyn.class_exec { self }
p d.singleton_methods
p d.define_singleton_method(:s) { @x }
p d.s
p d.singleton_methods
p Dyn.instance_methods(false).sort
p d.is_a?(Dyn)
p Dyn === d
p d.frozen?
p d.itself.equal?(d)
p d.instance_of?(Object)
