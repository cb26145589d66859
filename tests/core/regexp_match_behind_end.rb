# A place behind the end of the text is its end for match, and none for match?.
p "ab".match(/\z/,3), "éb".match(/$/,100), /\z/.match("ab",3), /\z/.match("ab",-3), /\z/.match("ab",-2), "ab".match("",5), "ab".match(/b/,9), $~
p "ab".match?(/\z/,3), :ab.match(/\z/,4)
p "".match(//,1), "éb".match(/\z/,3).begin(0)
p "ab".match(/\z/,2**62) rescue p $!
p "ab".match(/\z/,2**70) rescue p $!
p /\z/.match("ab",-9)
p "\xff".match(/\z/,8) rescue p $!
p /\A/.match("ab",3), /b*/.match("ab",7)
