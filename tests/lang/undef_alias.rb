class A
  def a = :a
  def b = :b
  alias c a
  alias_method :d, :b
  alias + a
  undef b
end
x = A.new
p x.c
p x.d
p x.+
p((x.b rescue :undefined))
begin
  class A; undef nope; end
rescue NameError => e
  p e.name
end
begin
  class A; alias q nope; end
rescue NameError => e
  p e.name
end
class B < A
  undef_method :a
end
p((B.new.a rescue :undefined))
p A.new.a
p A.instance_method(:c).name
p A.instance_method(:c).original_name
def top = 1
alias top2 top
undef top
p top2, (top rescue :gone)
class String
  alias_method :old_upcase, :upcase
  def upcase = "<#{old_upcase}>"
end
p "x".upcase
class String
  alias_method :upcase, :old_upcase
end
p "x".upcase
