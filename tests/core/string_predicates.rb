p "".empty?
p " ".empty?
p "abc".include?("b")
p "abc".include?("")
p "abc".start_with?("ab", "z")
p "abc".end_with?("bc")
p "abc".match?(/B/i)
p "abc" =~ /c/
p "a".ascii_only?
p "é".ascii_only?
p "é".valid_encoding?
p "\xff".valid_encoding?
p "abc".frozen?
p "a".eql?("a")
p "a" == :a
p "a" === "a"
p "a".between?("A", "z")
p "abc".casecmp?("ABC")
p "é".casecmp?("É")
p "1".to_i == 1
p "12abc".to_i
p "0b11".to_i(2)
p "0x1F".to_i(16)
p "z".to_i(36)
p " 42".to_i
p "-7".to_i
p "1_000".to_i
p "1__0".to_i
p "".to_i
p "1e5".to_f
p "1_0.5".to_f
p ".5".to_f
p "5.".to_f
p "abc".to_f
p "-0.0".to_f
p "1e-2x".to_f
p "0x1f".hex
p "zz".hex
p "-0x1".hex
p "755".oct
p "0b11".oct
p "0x1f".oct
p "9".oct
p "3.7".to_r
p "1/3".to_r
p "2+3i".to_c
p "abc".to_sym
p "12".to_c
