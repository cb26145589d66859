# Which two bytes are a character of a String, and what a conversion says of them, in Big5 and what was made of it.
def runs(list) = list.each_with_index.chunk_while { |x, y| x[0] == y[0] }.map { |c| format("%02x-%02x:%s", c[0][1], c[-1][1], c[0][0]) }.join(" ")

%w[Big5 CP950 Big5-HKSCS Big5-UAO].each do |name|
  rows = Hash.new { |h, k| h[k] = [] }
  (0x80..0xff).each do |first|
    is_character = (0..255).map do |second|
      s = [first, second].pack("CC").force_encoding(name)
      s.valid_encoding? && s.length == 1 ? 1 : 0
    end
    said = (0..255).map do |second|
      [first, second].pack("CC").force_encoding(name).encode("UTF-8") && :known
    rescue Encoding::UndefinedConversionError
      :known
    rescue Encoding::InvalidByteSequenceError => e
      "#{e.error_bytes.bytesize}+#{e.readagain_bytes.to_s.bytesize}"
    end
    rows[[runs(is_character), runs(said)]] << first
  end
  rows.each { |(is, said), firsts| puts "#{name} #{runs(firsts.map { |b| [b].pack("C").inspect })[0, 60]} #{firsts.size}", "  #{is}", "  #{said}" }
end

# Broken ones within a text, whole and byte by byte.
[["\xB0\xA8\xDC\x926\xF6%M", {}], ["P\x8E\x8D", {}], ["\xB9\xC9\t\xB5\xE15\xAF\x86", {}], ["\x8E\xA1\x87@\xFEA", { undef: :replace }]].each do |text, options|
  text = text.dup.force_encoding("Big5")
  p text.encode("UTF-8", invalid: :replace, undef: :replace), text.scrub("?"), text.chars.size
  p((text.encode("UTF-8", **options) rescue [$!.class, $!.message]))
  converter = Encoding::Converter.new("Big5", "UTF-8")
  said = text.bytes.flat_map do |b|
    to = +""
    [converter.primitive_convert([b].pack("C"), to, nil, nil, partial_input: true), to, converter.primitive_errinfo[3..]]
  end
  p said, (converter.finish rescue [$!.class, $!.message])
end
