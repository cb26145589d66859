# What `-w` says of patterns that look like a mistake.
$VERBOSE = true
$stdout.sync = true
PATTERNS = ["[aa]", "[a-cb-d]", "[\\w\\d]", "[a\\w]", "[\\d\\D]", "[[:alpha:]a]", "[[:alpha\\:]]", "[a[a]]", "[a[b]b]", "[a[c]b]", "[[b]b]", "[a-c[d]]", "[[a][a]]", "[a&&a]", "[aa&&bb]",
  "[^aa]", "(?i)[aA]", "[ab]a[aa][bb]", "[a-b-c]", "[-a]", "[a-]", "[--a]", "[+--]", "[a-c-]", "]", "a]", "[]a]", "[a]]", "\\-", "[\\-]", "\\p", "\\Pa", "[\\p]", "\\g{", "\\k{",
  "(?:(?:a?)?)?", "(a?)?", "(?i:a?)?", "(?:a?|b)?", "(?>a?)?", "a{2}*", "a{0,1}{0,}", "a{1,}+", "a***", "a?+?",
  "\\y" + "a" * 53, "\\y" + "a" * 54, "[\n\n\t\u0001\u007f]", "[a/\\/a]", "[[:abcdefghijklmnopqrstu:]]", "[[:abcdefghijklmnopqrstuv:]"]
letters = [*"a".."z", *"A".."Z"] - %w[c C M u x]
PATTERNS.concat(letters.map { |c| "\\#{c}" }, letters.map { |c| "[%\\#{c}]" })
repeats = %w[? * + ?? *? +?]
PATTERNS.concat(repeats.product(repeats).map { |inner, outer| "(?:a#{inner})#{outer}" })

said = Object.new
def said.write(*text) = (@text ||= +"") << text.join
def said.take = (@text || "").gsub(/^.*?: warning: /, "").tap { @text = nil }
before, $stderr = $stderr, said
PATTERNS.each do |source|
  Regexp.new(source)
  puts "#{source}\t#{said.take.lines.map(&:chomp).join(" | ")}"
rescue RegexpError
  said.take
end
eval("x = /[aa]/; x =~ 'b'")
puts said.take
2.times { |i| /#{i}[bb]/ }
puts said.take
$VERBOSE = false
Regexp.new("[cc]")
quiet = "x = /[dd]/; x =~ 'b'"
[false, true, nil, true].each do |level|
  $VERBOSE = level
  2.times { eval(quiet) }
  puts "#{level.inspect}: #{said.take.lines.size}"
end
$VERBOSE = false
$stderr = before

p Regexp.union(/\//, "").source, Regexp.new("a", timeout: 1e300).timeout, Regexp.allocate.fixed_encoding?
begin
  s = "\\"
  /#{s}/
rescue ArgumentError => e
  p e
end
