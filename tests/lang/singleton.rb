class A
  class << self
    attr_accessor :config
    def build = new
    private def secret = 1
  end
  def self.other = :other
end
A.config = 5
p A.config
p A.build.class
p A.other
p A.singleton_methods.sort
p((A.secret rescue :private))
o = Object.new
def o.hi = :hi
p o.hi
p o.singleton_methods
p o.singleton_class.instance_methods(false)
p o.clone.hi
p((o.dup.hi rescue :lost))
class B < A; end
p B.other, B.config
B.config = 6
p A.config, B.config
p A.singleton_class.inspect
p A.singleton_class.singleton_class.inspect
p A.singleton_class?
p A.singleton_class.singleton_class?
begin
  :a.singleton_class
rescue TypeError => e
  p e.message
end
p nil.singleton_class, true.singleton_class
x = +"a"
class << x
  def shout = upcase + "!"
  LOUD = 3
end
p x.shout, x.singleton_class.const_get(:LOUD)
p o.singleton_class.instance_of?(Class), o.singleton_class.ancestors.include?(Object), B.singleton_class.superclass == A.singleton_class
main = self
def main.only = :main_only
p only, self.to_s, self.inspect
