class V
  def pub = [priv, prot, self.priv]
  def cmp(o) = o.prot
  def cmp_priv(o) = o.priv
  private
  def priv = :priv
  protected
  def prot = :prot
  public
  def pub2 = :pub2
  private def inline = 1
  def still_public = inline
  private_class_method def self.pcm = 1
  def self.call_pcm = pcm
end
v = V.new
p v.pub
p v.cmp(V.new)
p v.pub2
p v.still_public
p V.call_pcm
[-> { v.priv }, -> { v.prot }, -> { v.cmp_priv(V.new) }, -> { V.pcm }].each do |f|
  f.call
  puts "no error"
rescue NoMethodError => e
  p e.name
end
p v.send(:priv)
p((v.public_send(:priv) rescue :denied))
p v.respond_to?(:priv)
p v.respond_to?(:priv, true)
class W < V
  public :priv
  private :pub2
end
p W.new.priv
p((W.new.pub2 rescue :private))
p V.private_instance_methods(false).sort
p V.protected_instance_methods
class X
  def a = 1
  private :a
  attr_accessor :acc
  private :acc=
  def set = self.acc = 5
end
x = X.new
x.set
p x.acc, (x.a rescue :pa)
def top = :top
p (1.top rescue :private_top), top, Object.private_method_defined?(:top)
