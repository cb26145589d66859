# Short interpolations: lengths around what fits in a cell and on the stack, encodings, numbers, redefinitions.
[0, 1, 7, 11, 12, 13, 23, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 129, 253, 254, 255, 256, 257].each do |n|
  a = "x" * n
  r = ["#{a}", "#{a}#{a}", "a#{a}b", "#{n}#{a}#{-n}", "#{a}é", "é#{a}#{n}"]
  p r.map { |s| [s.length, s.bytesize, s.encoding.to_s, s.valid_encoding?, s.ascii_only?, s.frozen?] }
  p r.map(&:sum)
end
p "#{2**62 - 1} #{-2**62} #{2**64}", "#{1}#{nil}#{:a}#{true}", "#{"a".b}#{1}".encoding, "#{"a".force_encoding("US-ASCII")}#{1}".encoding, "#{1}".encoding, "#{1}#{2}".encoding
p "#{"\xff"}a".valid_encoding?, "#{"\xff".b}a".encoding, "#{""}#{""}".encoding
class S < String; end
p "#{S.new("sub")}x".class
class Integer
  alias old_to_s to_s
  def to_s(*) = "N"
end
p "a#{1}b", "#{5}"
class Integer
  alias to_s old_to_s
end
p "a#{1}b"
