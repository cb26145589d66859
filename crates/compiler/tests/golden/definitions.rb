def a; end
def self.b = 1
def obj.c(x) = x
private def d = 1
class A; X = 1; end
class ::B < A; def e; end; end
class A::C < Struct.new(:x); end
module M; end
module A::N; end
class << self
  attr_reader :z
end
x = class D; self; end
alias new_name old_name
alias $new $old
alias :"a#{x}" b
undef a, :b
A::Y = 2
::Z = 3
