# Texts and lists that are repeated until they take many megabytes: each piece stands where it should.
def right?(text, unit) = text.bytesize % unit.bytesize == 0 && (0...text.bytesize).step(unit.bytesize * 9_973).all? { |i| text.byteslice(i, unit.bytesize) == unit } && text.end_with?(unit)

["\u6161", "abcdefg", "x", "0123456789" * 1_000 + "-", "\xff\xfe\xfd"].each do |unit|
  text = unit * (60_000_000 / unit.bytesize)
  p [unit.bytesize, right?(text, unit), text.valid_encoding? == unit.valid_encoding?, text.length == (unit.valid_encoding? ? unit.length * (60_000_000 / unit.bytesize) : text.length)]
end
long = ((0...251).map(&:chr).join.b * 71_714).byteslice(0, 18_000_001)
text = long * 3
p text.bytesize == 3 * long.bytesize, text.byteslice(long.bytesize, long.bytesize) == long, text.byteslice(2 * long.bytesize..) == long
p ("\u6161" * 25_000_000).encode("UTF-16LE").bytesize
padded = "a".ljust(50_000_000, "xyz")
p padded.byteslice(0, 7), padded.bytesize, padded.byteslice(49_999_990..)
padded = "a".rjust(50_000_000, "xyz")
p padded.byteslice(0, 7), padded.byteslice(49_999_990..)
list = [1, 2, 3] * 7_000_000
p list.size, (0...list.size).step(3 * 1_009).all? { |i| list[i, 3] == [1, 2, 3] }
joined = (["abc"] * 7_000_000).join("-")
p joined.bytesize, joined.byteslice(20_000_000, 8), joined.count("c")
