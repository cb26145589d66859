# `$~` after `split`: of the last search, where a Regexp was searched for at all.
"q"=~/q/; "a,b,c".split(/,/, 2); p $~
"q"=~/q/; "a,b,c".split(/,/, 1); p $~
"q"=~/q/; "a,b,c".split(/,/, 3); p $~
"q"=~/q/; "a,b,c".split(/,/, 4); p $~
"q"=~/q/; "a,b,c".split(/,/); p $~
"q"=~/q/; "abc".split(//); p $~
"q"=~/q/; "abc".split(/(?=b)/); p $~
"q"=~/q/; "a b".split(/ /); p $~
"q"=~/q/; "a b".split(","); p $~
"q"=~/q/; "a b".split; p $~
"q"=~/q/; "".split(/,/); p $~
"q"=~/q/; "ab".split(/,/); p $~
"q"=~/q/; "a,b".split(/,/) { |x| p $~ ; x =~ /b|a/}; p $~
"abc".sub(/b/){ "x"=~/x/; "" }; p $~
"q" =~ /q/; "".split(//); p $~
"q" =~ /q/; "".split(/,/, 1); p $~
"q" =~ /q/; "a1b2".split(/(\d)/); p $~
"q" =~ /q/; "a1b2c".split(/(\d)/, 2); p $1
"q" =~ /q/; "aéb".split(/é/) { p $~ }; p $~
