# Matching against short and long text: literals, alternation, classes, captures, scan, gsub, backtracking, named groups.

rounds = (ARGV[0] || 70).to_i

WORDS = %w[alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon]
seed = 42
text = +""
4000.times do |i|
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  word = WORDS[seed / 65_536 % WORDS.size]
  case i % 13
  when 3 then text << "#{word}@#{WORDS[i % 20]}.example "
  when 7 then text << "20#{i % 90 + 10}-#{i % 12 + 1}-#{i % 28 + 1} "
  when 11 then text << "<#{word} id=\"#{i}\">#{word.capitalize}</#{word}>\n"
  else text << word << " "
  end
end
lines = text.lines

hits = Hash.new(0)
rounds.times do
  30_000.times { hits[:literal] += 1 if /xyz|gamma ray|delta/ =~ "beta gamma delta epsilon" }
  lines.each do |line|
    hits[:anchored] += 1 if line.match?(/\A[a-z]+ /)
    if (m = line.match(/<(?<tag>\w+) id="(?<id>\d+)">/))
      hits[:named] += m[:id].to_i + m[:tag].size
    end
  end
  hits[:mail] += text.scan(/[\w.]+@[\w.]+/).size
  text.scan(/(\d{4})-(\d{1,2})-(\d{1,2})/) { |y, m, d| hits[:date] += y.to_i + m.to_i + d.to_i }
  hits[:gsub] += text.gsub(/\b([aeiou])(\w*)/) { "#{$2}#{$1}" }.sum
  hits[:tags] += text.gsub(/<\/?\w+[^>]*>/, "").size
  hits[:backtrack] += 1 if ("a" * 22 + "b") =~ /\A(a|aa)+\z/
  hits[:lazy] += text.scan(/<(\w+)[^>]*>.*?<\/\1>/).size
  hits[:split] += text.split(/[\s<>"=]+/).size
end
hits.each { |name, n| puts "#{name}: #{n}" }
