# Parts of an interpolated Regexp become text one after the other, by the `to_s` that is in force.
class X; def initialize(n) =@n=n; def to_s = (p [:to_s,@n]; @n.to_s); end
p(/#{X.new(1)}#{X.new(2)}/)
module R; refine Integer do def to_s = "refined"; end; end
using R
p "#{1}"
p(/#{1}a#{2}/)
p(:"#{1}")
p `echo #{1}`
def x(n) = (p n; n)
p(/#{x 1}#{x 3}#{X.new(4)}/)
class Y; def to_s = nil; end
p(/#{Y.new}/.source =~ /Y/)
begin
p(/#{x "("}#{x 2}/)
rescue => e
p e
end
p(/#{/a/u}/.fixed_encoding?)
p(/#{/a/u}/.encoding)
p(/#{/a/u}b/.encoding)
p(/#{/a/e}b#{/é/u}/.encoding) rescue p $!
p(/#{/\xa1\xa2/e}b/.encoding) rescue p $!
p(/#{/a/n}b/.encoding) rescue p $!
class Regexp; alias old_to_s to_s; def to_s = "mine"; end
p(/#{/a/n}b/) rescue p $!
module R2; refine Regexp do def to_s = "refd"; end; end
using R2
p(/#{/a/n}b/) rescue p $!
p(/#{/a/n}/) rescue p $!
