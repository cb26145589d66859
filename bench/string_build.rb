# String work: appending, interpolation, slicing, replacing, case mapping, splitting and joining, character loops.

rounds = (ARGV[0] || 64).to_i

def checksum(str)
  sum = 0
  str.each_byte { |b| sum = (sum * 33 + b) & 0xffffffff }
  sum
end

total = 0
rounds.times do |round|
  buffer = String.new
  8_000.times { |i| buffer << "item " << i.to_s << ": " << (i * round).to_s << "\n" }
  total += checksum(buffer) if round % 4 == 0

  csv = (0...2_000).map { |i| "#{i},name#{i},#{i * 0.5},#{i.even? ? 'yes' : 'no'}" }.join("\n")
  csv.each_line(chomp: true) do |line|
    id, name, amount, flag = line.split(",")
    total += id.to_i + name.size + amount.to_f.to_i + (flag == "yes" ? 1 : 0)
  end

  total += csv.tr("a-y", "b-z").count("z")
  total += csv.upcase.index("NAME1999")
  total += csv.sub("name77", "other").gsub("name", "label").size
  total += csv.reverse.size

  words = buffer.split
  total += words.map(&:capitalize).uniq.size
  longest = words.max_by(&:size)
  total += longest.size

  utf = "Zürich – naïve café – Ελληνικά " * 40
  utf.each_char { |c| total += c.bytesize }
  total += utf.chars.size + utf.index("Ελ")
  pos = 0
  while pos < utf.size
    total += utf[pos, 3].size
    pos += 7
  end

  line = +""
  3_000.times do |i|
    line << 97 + i % 26
    line = line[-50..] if line.size > 100
  end
  total += checksum(line)
  total += format("%05d|%-10s|%8.3f|%x", round, "left", round / 7.0, round * 4096).sum
  total += 20_000.times.sum { |i| "key#{i % 100}".to_sym == :key42 ? 1 : 0 }
end
puts "total #{total}"
