# Floats as old writers dumped them: a decimal number, and behind a NUL the lower bits of the mantissa; what else stands behind a number does not count.
["1x2", "1.5\0x", "1.5\0xy", "1.5\0\xff\xff", "1.5\0", "-1.5\0\x12\x34", "1e5\0a1", "1e", "1e400\0ab", "0\0ab", " 1.5", "x", ".5", "1.", "+1.5", "1_000",
 "1.1\0\xab", "3.14159265358979\0\x12\x34", "1e-320\0ab", "-0", "nan", "inf", "-inf"].each do |text|
  p Marshal.load("\x04\bf".b + (text.bytesize + 5).chr + text.b)
end
