# upto and ranges of Strings whose first is longer than the last, and numbers with leading zeros.
p "aa".upto("b").first(3), "aa".upto("b").to_a, "aa".upto("b", true).to_a, ("aa".."b").to_a, ("aa"..."b").to_a, ("aa".."b").first(2), ("aa".."b").each.first(1)
p "aa".upto("b").size, "ab".upto("a").to_a,"9".upto("11").to_a, "25".upto("5").to_a, "aaa".upto("b").to_a
p "aa".upto("aa").to_a, "aa".upto("aa",true).to_a, "b".upto("aa").to_a, "".upto("").to_a, "".upto("a").first(3), "a".upto("").first(3)
p "zz".upto("b").to_a, "z".upto("b").to_a, "a".upto("e").to_a, "a".upto("e", true).to_a,"aa".upto("a").to_a, "é".upto("e").to_a, "az".upto("b").to_a
p "bb".upto("b").to_a, "abc".upto("b",true).to_a, ("bb".."a").to_a, ("abc".."b").to_a, (("aa".."b")%1 rescue $!.class), ("aa".."b").step(1).to_a, ("aa".."b").count
p :aa.to_proc.class, (:aa..:b).to_a, (:bb..:b).to_a
p ("10".."9").to_a, "0010".upto("9").to_a, "1.10".upto("1.9").to_a
p ("aa".."b").each_slice(2).to_a, ("aa".."b").include?("aa"), ("aa".."b").min, ("aa".."b").max, ("aa".."b").minmax
p "0010".upto("12").to_a, "01".upto("123").first(3), "0010".upto("9").to_a, ("007".."9").to_a, "00".upto("1").to_a, "001".upto("1").to_a,"09".upto("10").to_a, "9".upto("010").to_a, "1".upto("003").to_a, "999999999999999999999".upto("1000000000000000000001").to_a,"0".upto("00").to_a,"01".upto("11111111111111111111").first(2)
