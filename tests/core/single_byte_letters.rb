# Letters of single-byte encodings: cases of all bytes, with each option, folds, and what POSIX brackets and types hold; broken text and the :ascii option.
names = %w[ASCII-8BIT US-ASCII] + (1..16).map { "ISO-8859-#{_1}" } - %w[ISO-8859-12] + (1250..1258).map { "Windows-#{_1}" } + %w[Windows-874 KOI8-R KOI8-U TIS-620 IBM437 IBM852 CP855 IBM866 macRoman macCyrillic macTurkish]
hex = ->(bytes) { bytes.map { "%02x" % _1 }.join }
runs = ->(list) { list.chunk_while { |a, b| b == a + 1 }.map { |c| c.size > 1 ? "%02x-%02x" % [c[0], c[-1]] : "%02x" % c[0] }.join(" ") }
# Regexps of these compare letters one way only in CRuby, so that some letters don't match themselves.
lopsided = %w[ISO-8859-7 ISO-8859-16 Windows-1250 Windows-1251 Windows-1252 Windows-1253 Windows-1254]
# All bytes beside all others.
pairwise = %w[ISO-8859-1 ISO-8859-3 ISO-8859-5 KOI8-U IBM437]
names.each do |name|
  all = (0..255).map { |b| [b].pack("C").force_encoding(name) }
  %i[upcase downcase swapcase capitalize].each do |map|
    [[], [:ascii], [:turkic], [:lithuanian], *([[:fold]] if map == :downcase)].each do |options|
      changed = all.filter_map do |s|
        mapped = s.send(map, *options).bytes
        plain = s.b.send(map).bytes
        "#{hex[s.bytes]}>#{hex[mapped]}" if mapped != plain
      rescue ArgumentError
        "#{hex[s.bytes]}!"
      end
      puts "#{name} #{map} #{options.join} #{changed.size > 127 ? changed.size : changed.join(" ")}" unless changed.empty?
    end
  end
  changed = all.filter_map { |s| t = ("a".b + s.b).force_encoding(name).capitalize.bytes; hex[t] if t[1..] != [s.getbyte(0)] }
  puts "#{name} behind another #{changed.size}"
  if pairwise.include?(name)
    high = all.drop(128)
    puts "#{name} casecmp? #{high.combination(2).filter_map { |a, b| "#{hex[a.bytes]}#{hex[b.bytes]}" if a.casecmp?(b) }.join(" ")}"
    puts "#{name} casecmp #{high.each_cons(2).count { |a, b| a.casecmp(b) == 0 }}"
  end
  %w[upper lower alpha alnum punct cntrl digit graph print space xdigit word blank].each do |set|
    next if name == "Windows-1251" && set == "print"
    found = all.select { |s| Regexp.new("[[:#{set}:]]".dup.force_encoding(name), Regexp::FIXEDENCODING).match?(s) rescue false }
    puts "#{name} #{set} #{runs[found.map { _1.getbyte(0) }.select { |b| b > 127 }]}"
  end
  %w[\w \s \d \S [\s] (?a)[[:space:]]].each do |set|
    found = all.select { |s| Regexp.new(set.dup.force_encoding(name), Regexp::FIXEDENCODING).match?(s) rescue false }
    puts "#{name} #{set} #{runs[found.map { _1.getbyte(0) }.select { |b| b > 127 }]}"
  end
  next if lopsided.include?(name) || name == "US-ASCII"
  puts "#{name} /i of a set #{runs[all.select { |s| Regexp.new("[[:upper:]]".dup.force_encoding(name), Regexp::IGNORECASE | Regexp::FIXEDENCODING).match?(s) }.map { _1.getbyte(0) }]}"
  next unless pairwise.include?(name)
  pairs = all.drop(128).flat_map { |a| r = Regexp.new(a, Regexp::IGNORECASE); all.filter_map { |b| "#{hex[a.bytes]}#{hex[b.bytes]}" if a != b && r.match?(b) } }
  puts "#{name} /i #{pairs.join(" ")}"
end
# Beyond ASCII, multi-byte encodings know words and what is printed alone.
{ "EUC-JP" => ["\xa1\xa1", "\xa3\xc1", "\xa4\xa2"], "Shift_JIS" => ["\x81\x40", "\x82\x60", "\xb1"], "GBK" => ["\x81\x40"], "Big5" => ["\xa4\x40"], "EUC-KR" => ["\xb0\xa1"] }.each do |name, texts|
  texts.each do |text|
    text = text.dup.force_encoding(name)
    sets = %w[upper lower alpha alnum punct cntrl digit graph print space xdigit word blank].select { |set| Regexp.new("[[:#{set}:]]".dup.force_encoding(name), Regexp::FIXEDENCODING).match?(text) }
    p [name, text.b, sets, %w[\w \s \d].map { |set| Regexp.new(set.dup.force_encoding(name), Regexp::FIXEDENCODING).match?(text) }]
  end
end
%w[UTF-8 EUC-JP US-ASCII].each do |name|
  %i[upcase downcase swapcase capitalize].each do |map|
    text = "a\xff".dup.force_encoding(name)
    p [name, map, [[], [:ascii]].map { |options| text.send(map, *options).bytes rescue $!.message }]
  end
end
p "\x80".dup.force_encoding("US-ASCII").to_sym, :"a b".inspect.encoding, "\xe9".dup.force_encoding("ISO-8859-1").to_sym.upcase.to_s.bytes
