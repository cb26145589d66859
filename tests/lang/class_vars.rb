class A
  @@count = 0
  @inst = :class_ivar
  class << self; attr_reader :inst; end
  def self.inc = @@count += 1
  def count = @@count
end
class B < A
  def bump = @@count += 10
end
A.inc
B.new.bump
p A.new.count
p B.new.count
p A.inst
p B.inst
p A.class_variables
p B.class_variables
p A.class_variable_get(:@@count)
p A.class_variable_defined?(:@@zz)
A.class_variable_set(:@@z, 3)
p A.class_variables.sort
begin
  A.class_variable_get(:@@none)
rescue NameError => e
  p e.message
end
module M
  @@m = 1
  def mm = @@m
end
class C; include M; end
p C.new.mm
class D
  def get = @@undefined
end
begin
  D.new.get
rescue NameError => e
  p e.message
end
class E
  @@list = [1]
  def self.each(&b) = @@list.each(&b)
  def add(x) = [1].each { @@list << x }
end
E.new.add(2)
E.each { |x| p x }
p A.remove_class_variable(:@@z), A.class_variables
