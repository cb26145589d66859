p [1, -1, 127, 128, 255].pack("c*").bytes, [1, -1].pack("s>s<").bytes, [2**31, -2**31].pack("L>l>").bytes
p [2**63].pack("Q<").bytes
p [-1].pack("q").unpack1("Q")
p [1.0, -2.5].pack("eg").unpack("eg")
p [1e10].pack("D").unpack1("d")
p ["abc", 5, "z"].pack("a5Ca").bytes, ["a"].pack("x2a").bytes, [1, 2].pack("Cx2C").bytes
p ["hello"].pack("m")
p "aGVsbG8=\n".unpack1("m")
p ["a=b c\n"].pack("M")
p "a=3Db".unpack1("M")
p ["abc def"].pack("u")
p "'86)C(&1E9@\n".unpack1("u")
p [0x20AC, 97].pack("U*")
p "€a".unpack("U*")
p [128, 16384].pack("w*").bytes
p "\x81\x00".unpack("w")
p "ab\0cd".unpack("Z*a*")
p "abcd".unpack("a1 x1 a1")
p "\x01\x02\x03\x04".unpack("S>*")
p "\x01\x02".unpack("C3")
