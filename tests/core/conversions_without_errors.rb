# Float(), Integer() and the like with exception: false, and IO::Buffer#get_values.
p ["x", "1.5", " 2 ", "1_0", "\0", "0x1p3", "", "1\0"].map { Float(_1, exception: false) }
p ["x", "15", " 2 ", "1_0", "\0", "0x1f", "", "9"*30, "0b2", "1\0"].map { Integer(_1, exception: false) }
b = IO::Buffer.for("\x01\x02\x03\x04")
p b.get_values([:U8, :U16], 0), b.get_values([:u32], 0), b.get_values([], 0), b.get_values([:U8,:U8], 2)
begin; b.get_values([:U16, :U32], 0); rescue => e; p e.class, e.message; end
begin; b.get_values([:U8], 9); rescue => e; p e.class, e.message; end
[-> { Float(_1, exception: false) }, -> { Integer(_1, exception: false) }, -> { Integer(_1, 10, exception: false) }, -> { Rational(_1, exception: false) }, -> { Complex(1, _1, exception: false) }].each do |f|
  p f["1".encode("UTF-16LE")]
rescue => e
  p e
end
