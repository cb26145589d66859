# Templates of one letter: bytes enough, too few, none; offsets.
def told
  yield
rescue ArgumentError => e
  e.message
end
bytes = (0..255).to_a.reverse.pack("C*")
%w[C c n N v V S s L l Q q J j I i w].each do |t|
  p [t, [0, 1, 127, 128, 247, 250, 253, 255].map { |o| told { bytes.unpack1(t, offset: o) } }]
  p [t, "".unpack1(t), bytes.unpack1(t) == bytes.unpack(t)[0], told { "ab".unpack1(t, offset: 3) }]
end
p "abc".unpack1("C "), "abc".unpack1("C*"), "abc".unpack1("C2"), "\xff\xff\xff\xff\xff\xff\xff\xff".unpack1("Q"), "é".unpack1("C")
p "ab".unpack1("C", offset: 2)
