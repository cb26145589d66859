class Pt
  def initialize; @x = 1; @y = "s"; end
end
p Pt.new.inspect.gsub(/0x\h+/, "XX")
p Object.new.inspect.gsub(/0x\h+/, "XX")
p Pt.new.to_s.gsub(/0x\h+/, "XX")
p Class.new.new.inspect.gsub(/0x\h+/, "XX")
class Cyc; def initialize; @me = self; end; end
p Cyc.new.inspect.gsub(/0x\h+/, "XX")
class Custom; def inspect = "custom"; end
p Custom.new, [Custom.new], Struct.new(:a).new(Custom.new)
class ToS; def to_s = "to_s"; end
puts ToS.new, "#{ToS.new}"
p ToS.new.inspect.gsub(/0x\h+/, "XX")
class BadS; def to_s = 5; end
puts "#{BadS.new}".gsub(/0x\h+/, "XX")
a = [1]; a << a
h = [a, a].inspect
p h
p nil.inspect
p :a.inspect
p "a".inspect
p 1.0.inspect
p((1..2).inspect)
p((1...).inspect)
p [nil, true].inspect
p Pt.inspect
p Comparable.inspect
p method(:puts).inspect.include?("puts")
p ENV.inspect.class
p ARGV.inspect
p main = self.inspect
p Float::NAN.inspect
p [].inspect
p "".inspect
p :"".inspect
p 1r.inspect
p 2i.inspect
