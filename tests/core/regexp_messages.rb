# What is said of malformed patterns, alone and beside others; literals are refused when they are compiled, not when they are first met.
tokens = <<'TOKENS'.split
  a * + ? {2} {2,1} {100001} *+ ( ) (?: (?= (?<= (?> (?<n> (?'n' (?<1> (?< (?<n (?<> (?~ (?( (?(1) (?(<n>) (?(<x>)a|b) (?('n') (?(a) (?<n>a) | ^ \ \1 \2 \9 \k<n> \k<x> \k<1> \k<-1> \k' \k<n \k<> \k<1+0>
  \g<n> \g<x> \g<1> \g<0> \g<-1> \g<3> \g<+1> \x \x4 \u \u12 \u{ \u{41} \u{41 \u{110000} \u{d800} \u{} \p{Alpha} \p{Foo} \p{a( \p{ab \p{ \c \C- \M \777 \400 [ ] [a [z-a] [a-\d] [[:foo:]] [a&& [] [\u{
  (?i) (?z) (?i- (?-) (?) (?a-i) (?# (?@) (?P<n>a) (?<=a*) (?<!(a)) (a)(b)
TOKENS
said = ->(text) { Regexp.new(text).source == text ? "ok" : "?" rescue $!.message }
tokens.each { |t| [t, "a#{t}", "(#{t})", "(a)#{t}", "(?<n>a)#{t}", "[#{t}]", "(?<=#{t})", "#{t}*", "#{t})"].each { |text| puts "#{text.inspect} #{said[text]}" } }
R = Random.new(3)
600.times do
  text = Array.new(2 + R.rand(4)) { tokens[R.rand(tokens.size)] }.join
  next if text.include?("(?#") || text.scan(/\\c/i).size > 1
  puts "#{text.inspect} #{said[text]}"
end
["/[/", "x = 1\nif /(?(<x>)a|b)/ then 1 end", "p 1; /a{2,1}{/ =~ 'a'; /(?<n>/", "[/a)/]", "/[/; 5", "case 1\nwhen /\\p{Foo}/ then 1\nend"].each do |program|
  p eval(program)
rescue SyntaxError
  puts $!.message
end
