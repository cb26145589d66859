# p and P: addresses, which only the packed String itself can follow.
text = "hello world, longer than a cell holds"
packed = [text, nil, "b\0c"].pack("p2p")
p packed.size, packed.unpack("p3")
p [text].pack("P").unpack("P5"), [text].pack("P").unpack("P*").first.size
p packed.dup.unpack1("p") == text
p((packed.b.to_sym.to_s.unpack("p") rescue $!.message))
p(([1, 2].pack("QQ").unpack("p") rescue $!.message))
other = ["x"].pack("p")
other.replace([0x1234].pack("J"))
p((other.unpack("p") rescue $!.message))
p((["ab"].pack("P5") rescue $!.message))
p "abc".unpack("p"), [nil].pack("P").unpack("J")
GC.start
p packed.unpack1("p").size
p "\x01\x02\x03\x04".unpack("C3@*C"), "\x01\x02\x03\x04".unpack("C2@C")
