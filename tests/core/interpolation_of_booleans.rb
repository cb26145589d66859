# true and false among the parts, with `to_s` as it is and as a program makes it; the encodings of what comes out.
t, f, n = true, false, nil
p "#{t}", "a#{t}b#{f}c#{n}", "#{t}#{f}", "é#{t}", "#{:x}#{t}#{1}"
p "#{t}".encoding, "#{t}#{f}".encoding, "a#{f}".encoding, "é#{f}".encoding, "#{t}".frozen?, "#{f}b".ascii_only?
p "x#{"é".encode("ISO-8859-1")}#{t}".encoding, "#{"\xff".b}#{t}".encoding
module Loud
  refine TrueClass do
    def to_s = "yes!"
  end
end
module Here
  using Loud
  p "#{true}", "a#{true}#{false}"
end
class FalseClass
  def to_s = "no"
end
p "#{f}#{t}", "a#{f}"
class TrueClass
  def to_s = 5
end
p "a#{t}"[0, 16]

# Classes and modules among the parts, before and behind others.
class Shown; end
module Shape; class Round; end; end
p "#{Shown}#{Shape::Round}", "a#{Shape}b#{Shown}c", "#{Shown}#{1}#{Shape}".encoding, "#{Shown}é#{Shape}".encoding, "#{Shown}#{Shape}".encoding, "#{Shown}".encoding
p "#{Class.new.new.class.name}#{Shown}", "#{Shown}#{Shape}".frozen?, :"#{Shown}x#{Shape}", "#{/#{Shown}|#{Shape}/}", `echo #{Shown} #{Shape}`
class Named
  def self.to_s = "own"
end
p "a#{Named}b#{Named}"
# What comes later may change what earlier ones answer: they were asked before.
class Later
  def to_s
    def Shown.to_s = "changed"
    "later"
  end
end
p "#{Shown}-#{Later.new}-#{Shown}"
class Last
  def initialize(list) = @list = list
  def to_s
    @list << :asked
    "é"
  end
end
asked = []
p "#{Shape}#{1}#{Last.new(asked)}", asked
begin
  "\xff\u3042#{"\xe9".dup.force_encoding("ISO-8859-1")}#{Last.new(asked)}"
rescue EncodingError
  p $!.class, asked
end
class Symbol
  def to_s = "symbol!"
end
p "#{Shape}#{:a}#{Shape}"
class Object
  def to_s = nil
end
p "a#{Last.instance_method(:to_s).class}#{Object.new}".sub(/0x\h+/, "0x")
