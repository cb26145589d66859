# Numbers of 128 bits, and buffers without bytes.
b = IO::Buffer.new(32)
values = [0, 1, -1, 2**64 - 1, 2**64, -2**63 - 1, 2**127 - 1, 2**127, 2**128 - 1, -2**127, 2**128, -2**127 - 1]
[:u128, :U128, :s128, :S128].each do |type|
  p type, IO::Buffer.size_of(type)
  values.each do |v|
    p [b.set_value(type, 3, v), b.get_value(type, 3), b.get_string(3, 16)]
  rescue RangeError => e
    p e.class
  end
end
b.set_values([:u128, :S128], 0, [0x0123456789abcdef0123456789abcdef, -5])
p b.values(:U128, 0, 1), b.get_values([:u128, :S128], 0), b.each(:s128).to_a
p IO::Buffer.size_of([:u128, :U8])
huge = 2**64 - 1
[-> { b.get_value(:u16, huge) }, -> { b.get_value(:F128, 0) }, -> { b.get_value(:u128, 17) }, -> { b.clear(0, huge - 7, 10) }].each do |l|
  p l.call
rescue ArgumentError
  p ArgumentError
end
none = IO::Buffer.new(0)
p none.get_string, none.copy(IO::Buffer.for("a"), 0, 0), IO::Buffer.for("a").dup.copy(none, 0, 0), none.set_string("a", 0, 0), none.empty?
require "tempfile"
Tempfile.create("buffer") do |f|
  f.write("Hello World")
  b = IO::Buffer.map(f, nil, 0, IO::Buffer::PRIVATE)
  b.set_string("J")
  f.seek(0)
  p b.get_string(0, 5), f.read
end
