# The place that =~ answers is where the search matched; \K moves the start of the match only.
p "ab" =~ /a\Kb/, /a\Kb/ =~ "ab", $~.begin(0), $~.offset(0), $~.pre_match, $~.post_match
p "xab".index(/a\Kb/), $~.begin(0)
p "xab" =~ /a\Kb/, $~.begin(0)
p "xab".rindex(/a\Kb/), $~.begin(0)
p "xab".byteindex(/a\Kb/), $~.begin(0)
p "xab".byterindex(/a\Kb/)
p "xabab".index(/a\Kb/, 2), $~.begin(0)
p "éab" =~ /a\Kb/
p "éab".index(/a\Kb/), "éab".byteindex(/a\Kb/)
p "éab".rindex(/a\Kb/), "éab".byterindex(/a\Kb/)
$_="xab"
p(~/a\Kb/)
p "xabab".scan(/a\Kb/), "xabab".gsub(/a\Kb/,"-"), "xabab".sub(/a\Kb/,"-"), "xabab".split(/a\Kb/)
p "xabab".partition(/a\Kb/), "xabab".rpartition(/a\Kb/)
p "xab"[/a\Kb/], "xab".slice!(/a\Kb/)
p "xab".start_with?(/xa\Kb/), $~
p "xab".delete_prefix("x")
if /(?<q>a)\Kb/ =~ "xab" then p q end
p((/(?<q>a)\Kb/ =~ "xab"))
p :xab =~ /a\Kb/
s=+"xab"; s[/a\Kb/]="Q"; p s
p "ababab".gsub(/a\Kb/){ $~.begin(0).to_s }
p "abc".each_char.grep(/a\K/)
p "aab".gsub(/a\K/,"-"), "aab".scan(/a\K/), "ab".split(/a\K/)
p "xab".match(/\K/,2).begin(0)
p "xab" =~ /a(?=b\K)/ , $~.offset(0)
p "xab" =~ /(a)\K(b)/, $~.offset(1)
