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
