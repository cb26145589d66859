# Searches in encodings whose characters look like parts of others: only what begins with a character is found.
SETS = {
  "EUC-JP" => %w[a4a2 a2a4 a4a4 8ea4 8fa4a2 61],
  "Shift_JIS" => %w[8140 4081 8181 40 81a1 a1],
  "GB18030" => %w[81308130 8130 3081 81 30 8181 61].select { |h| [h].pack("H*").force_encoding("GB18030").valid_encoding? },
  "Big5" => %w[a440 a4a4 40 a1a4 a4a1],
  "UTF-16LE" => %w[6100 0061 6161 3dd800de 00de],
  "UTF-16BE" => %w[0061 6100 6161 d83dde00],
  "UTF-32LE" => %w[61000000 00610000 00000100],
  "UTF-8" => %w[61 c3a9 e697a5 f09f9880],
}.transform_values { |all| all.map { |h| [h].pack("H*") } }
seed = 5
draw = ->(n) { (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) / 65_536 % n }
SETS.each do |name, parts|
  parts = parts.map { |one| one.force_encoding(name) }.select(&:valid_encoding?)
  found = Hash.new(0)
  200.times do
    text = Array.new(draw[14]) { parts[draw[parts.size]] }.inject("".encode(name), :+)
    needle = Array.new(draw[3]) { parts[draw[parts.size]] }.inject("".encode(name), :+)
    chars, wanted = text.chars, needle.chars
    places = (0..chars.size - wanted.size).select { |i| chars[i, wanted.size] == wanted }
    at = draw[chars.size + 1]
    right = text.index(needle) == places.first && text.rindex(needle) == places.last && text.index(needle, at) == places.find { |i| i >= at } &&
            text.rindex(needle, at) == places.reverse.find { |i| i <= at }
    right &&= text.byteindex(needle) == places.first&.then { |i| chars[0, i].sum(&:bytesize) } && text.byterindex(needle) == places.last&.then { |i| chars[0, i].sum(&:bytesize) }
    right &&= text.include?(needle) == places.any? && text.end_with?(needle) == (chars.last(wanted.size) == wanted)
    right &&= text.partition(needle).join == text && text.rpartition(needle).join == text
    found[right] += 1
    found[:last] = text.split(needle, -1).join.bytesize if draw[9] == 0
    found[:lines] += text.each_line(needle).to_a.size unless needle.empty?
  end
  puts "#{name}: #{found.inspect}"
end
# However often it looks so between characters.
text = "\xa4\xa2".b * 50_000
text.force_encoding("EUC-JP")
odd = ("\xa2\xa4".b * 20_000).force_encoding("EUC-JP")
p text.index(odd), text.rindex(odd), text.split(odd).size, text.byteindex(odd), text.tr("\xa4\xa2".dup.force_encoding("EUC-JP"), "b").size
same = ("\xa4\xa4".b * 50_000).force_encoding("EUC-JP")
part = ("\xa4\xa4".b * 20_000).force_encoding("EUC-JP")
p same.index(part), same.rindex(part), same.rindex(part, 7), same.index(part, 30_001), same.rpartition(part).map(&:size)
sjis = ("\x81\x40".b * 50_000).force_encoding("Shift_JIS")
p sjis.split("@").size, sjis.index("@"), sjis.rindex("@"), sjis.each_line("@").to_a.size, sjis.gsub("@", "x") == sjis, sjis.count("@")
# Long Strings that begin alike.
long = Array.new(3000) { |i| "x" * 2000 + (i * 7919 % 3000).to_s.rjust(4, "0") }
p long.sort == long.sort { |a, b| a <=> b }, long.sort_by { |one| one } == long.sort, long.sort.first[-4..], long.sort.last[-4..]
p ([2**64, 3, 1.5] * 500).sort == ([2**64, 3, 1.5] * 500).sort { |a, b| a <=> b }, ([2**64, 3, 1.5] * 500).sort_by { |x| x }.first
