# Numbers of one run: of a text, a slice, memory; beyond the end, wrong types, more than 256, none.
b = IO::Buffer.for("\x01\x02\x03\x04\x05\x06\x07\x08" * 100)
[[:U8, :u16, :S32], [], [:U64, :u64], [:F32, :f64], [:U8] * 600].each { |t| p b.get_values(t, 0).then { |v| v.size > 9 ? [v.size, v.sum] : v } }
p b.slice(8, 8).get_values([:U32, :u32], 0), IO::Buffer.new(16).get_values([:U8, :S64], 0)
[[[:U8, :X], 0], [[:U8, :U64], 795], [[:U64, :X], 796], [:U8, 0], [[:U8], -1], [[:U8], 800]].each { |t, at| p((b.get_values(t, at) rescue [$!.class, $!.message])) }
