# frozen_string_literal: false
# Encoding::Converter: conversions in pieces, with little room, over broken text.
def steps(from, to, text, room: nil, **options)
  ec = Encoding::Converter.new(from, to, **options)
  source = text.dup
  target = "".b
  results = []
  loop do
    results << ec.primitive_convert(source, target, nil, room)
    case results.last
    when :destination_buffer_full then next
    when :finished then break
    when :undefined_conversion then ec.insert_output("?")
    end
  end
  [results.tally.to_a, target.b]
end

p steps("UTF-8", "UTF-16BE", "h\u00e9\u3042", room: 1)
p steps("UTF-8", "US-ASCII", "h\u00e9\u3042!")
p steps("UTF-8", "ISO-8859-1", "a\xE3b\xFF")
p steps("EUC-JP", "UTF-8", "\xA4\xA2\xA4".b)
p steps("UTF-8", "EUC-JP", "\u3042\u{1f600}", undef: :replace)
p steps("UTF-8", "US-ASCII", "<\u00e9 & \">", xml: :attr)
p steps("UTF-8", "UTF-16LE", "a\nb", crlf_newline: true)
p steps("", "", "a\r\nb\rc\n", universal_newline: true)

# A character that arrives byte by byte.
ec = Encoding::Converter.new("UTF-8", "UTF-16LE")
p "\u3042\u{1f600}".bytes.map { |b| ec.convert(b.chr.b).bytes }, ec.finish.bytes
ec = Encoding::Converter.new("UTF-8", "ISO-2022-JP")
p ["a", "\u3042", "\u3044", "b"].map { |c| ec.convert(c).b }, ec.finish.b
ec = Encoding::Converter.new("ISO-2022-JP", "UTF-8")
p "\e$B$\"$$\e(Bx".bytes.map { |b| ec.convert(b.chr.b) }.join

# What failed, and what is read again.
ec = Encoding::Converter.new("UTF-16BE", "UTF-8")
p ec.primitive_convert(s = "\xd8\x00\x00@".b, ""), ec.primitive_errinfo, s, ec.putback, ec.putback
ec = Encoding::Converter.new("ISO-8859-1", "EUC-JP")
begin
  ec.convert("a\xA0".b)
rescue Encoding::UndefinedConversionError => e
  p e.message, e.source_encoding_name, e.destination_encoding_name, e.error_char, ec.last_error.message == e.message
end
ec = Encoding::Converter.new("EUC-JP", "UTF-8")
p ec.primitive_convert(+"\xa4".b, d = "", nil, nil, partial_input: true), ec.primitive_errinfo
p ec.primitive_convert(+"\xa2".b, d), d
p((ec.convert("x") rescue [$!.class, $!.message]))

p Encoding::Converter.search_convpath("ISO-2022-JP", "UTF-16LE", crlf_newline: true)
p Encoding::Converter.new([["iso-8859-1", "euc-jp"], "crlf_newline"]).convert("a\n")
p Encoding::Converter.new("UTF-8", "EUC-JP", universal_newline: true)
[["foo", "utf-8"], ["utf-8", "utf-8"], [Encoding::UTF_8, "Emacs-Mule"]].each do |args|
  p((Encoding::Converter.new(*args) rescue [$!.class, $!.message]))
end
ec = Encoding::Converter.new("UTF-8", "US-ASCII", invalid: :replace, undef: :replace, replace: "<?>")
p ec.convert("a\u3042\xFFb"), ec.replacement, (ec.replacement = "-"), ec.convert("\u3042")
p ec.dup.source_encoding rescue p $!.class
