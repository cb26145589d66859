# The absence operator over what takes no room, and characters that are repeated in a group with options.
p "_A"[/(?~\B)/], "__A".scan(/(?~\B)/), "ab cd".scan(/(?~\B)/), "ab cd".scan(/(?~\b)/)
p "abc".match(/(?~)/).offset(0), "abc".match(/(?~(?=c))/).offset(0), "abc".match(/(?~(?<=a))/).offset(0), "abc".match(/(?~(?<=a))c/).offset(0)
p "a b".match(/(?~\b)/).offset(0), "a  b".match(/ (?~\b)/).offset(0), "a  b".match(/ (?~\B)/).offset(0), "ab cd".scan(/(?~(?!a))/)
p "abc".match(/(?~^)/).offset(0), "abc".match(/(?~$)/).offset(0), "abc".match(/(?~\z)/).offset(0), "abc".match(/(?~\A)/).offset(0), "abc".match(/x*(?~b?)/).offset(0)
p "/* a */ b */"[/\/\*(?~\*\/)\*\//], "aXbXc".scan(/(?~X)/), "aab".scan(/(?~aa)/), "foo bar"[/(?~bar)/]
p (/(?i:S){2}/ =~ "ß"), (/(?i:s){2}/ =~ "ss"), (/(?i:ss)/ =~ "ß"), (/(?i)s{2}/ =~ "ß"), (/s{2}/i =~ "ß"), (/(?:S){2}/i =~ "ß"), (/(?i:f){2}i/ =~ "ﬃ")
