# `$~` is a new object for each match that the program has looked at, whatever is reused of the others.
def texts = %w[a1 b22 c333]

kept = texts.map { |t| t =~ /(\w)(\d+)/; $~ }
p kept.map(&:to_a), kept.map(&:object_id).uniq.size

kept = texts.map { |t| t =~ /(\w)(\d+)/; [$1, Regexp.last_match, $2] }
p kept.map { |a, m, b| [a, m[0], b] }
p texts.map { |t| t =~ /(\w)(\d+)/; t =~ /(\d)(\d)?(\d)?/; [$~.begin(0), $3, $`, $', $+] }

# In between nobody looked.
"xyz" =~ /y/
first = $~
10.times { |i| "#{i}z" =~ /(\d)z/ }
p first.pre_match, first.post_match, $~[1]

# Blocks share the variable, threads and fibers have their own.
"outer" =~ /(o)/
seen = [1, 2].map { |i| "in#{i}" =~ /\d/; $~ }
p seen.map(&:to_s), $~.to_s
"main" =~ /(m)/
Thread.new { 100.times { "thread" =~ /(t)/ }; p $1 }.join
Fiber.new { "fiber" =~ /(f)/; p $1 }.resume
p $1

# Closures that match while another method of theirs reads.
index = Object.new
"before" =~ /(be)(fo)(r)(e)/
index.define_singleton_method(:to_int) { 50.times { |i| "#{i}abcdef" =~ /(\d+)(a)(b)(c)(d)(e)(f)/ }; 2 }
p Regexp.last_match(index), $~[0]

p "aXbX".gsub(/[a-z]/) { $~ ? $&.upcase + $~.begin(0).to_s : 0 }
list = []
"a1b2".scan(/([a-z])(\d)/) { list << $~ }
p list.map(&:to_a)
"a1b2".gsub(/([a-z])(\d)/) { list << $~; "" }
p list.map(&:to_a), list.uniq.size

case "k=v"
when /(\w):(\w)/ then p 1
when /(\w)=(\w)/ then p [$1, $2]
end
saved = $~
"zzz"[/z/]
"q-r".index(/-/)
"pre".start_with?(/p/)
p saved[2], $~[0]
$~ = saved
"again" =~ /g/
p saved.to_a, $~[0]

# More groups, then fewer.
"abcdefgh" =~ /(a)(b)(c)(d)(e)(f)(g)(h)/
"x" =~ /(x)/
p $~.size
"abcdefgh" =~ /(a)(b)(c)(d)(e)(f)(g)(h)/
p $8, $~.names

all = ObjectSpace.each_object(MatchData).to_a.select { |m| m.string == "abcdefgh" && m.size == 9 }
"other" =~ /o/
p all.all? { |m| m[8] == "h" }
text = +"changing"
text =~ /(chang)(ing)/
text.replace("?")
p $1, $2, $~.string.frozen?
copy = $~.dup
p copy[0], copy == $~
