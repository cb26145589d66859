# Parts of an interpolation become Strings one after the other.
class E
  def to_s
    $x += 1
    "e"
  end
end
$x = 1
e = E.new
p "#{$x}#{e}#{$x}", "#{e} #{$x} #{e} #{$x}"
x = []
f = Object.new
f.define_singleton_method(:to_s) { x << :f; "f" }
p "#{f}#{x.size}#{f}#{x.size}", :"#{f}#{x.size}", `echo #{f}#{x.size}`
def x.to_s = "X#{size}"
p "#{x}#{x << 1; 2}#{x}"
begin
  "#{f}#{raise 'q'}"
rescue
  p x.size
end
s = +"a"
p "#{s}#{s << "b"; 1}#{s}"
p "#{1}#{:sym}#{nil}#{true}#{2.5}#{10**30}#{1..2}#{E}#{/r/}#{[1, nil]}"
# What is no String is shown as an object.
odd = Object.new
def odd.to_s = 1
p "#{odd}#{$x}".sub(/0x\h+/, "0x") =~ /\A#<Object:0x/
module Refined
  refine(Array) { def to_s = "refined#{size}" }
  refine(Integer) { def to_s = "int" }
end
using Refined
p "#{[1]}#{x << 2; 1}#{[1, 2]}#{nil}"
def loop_of(list)
  out = []
  2000.times { |i| out << "#{list[i % list.size]}#{list.size}#{i & 1}" }
  out.uniq
end
p loop_of([1, "s", :y, nil, 2.5, E, 1r])
class Sub < String
  def to_s = "never asked"
end
p "#{Sub.new("sub")}#{1}"
p "#{"#{f}#{x.size}"}#{x.size}"
