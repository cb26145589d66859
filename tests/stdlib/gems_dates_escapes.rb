# What suites of gems stumbled over: dates written with words and signs, bytes that are no text in HTML.
require "date"
require "erb"

["18th, November, 1983", "18nov1983", "18.nov.1983", "18/nov/1983", "November 18th, 1983", "November, 18th 1983", "Nov.18,1983", "1of nov 2001", "Sat, 3 Feb 2001", "3 Feb, 2001 10:20", "Feb3",
 "3Feb", "Feb,3", "Feb the 3rd", "10pm 3 feb", "2001 Feb 3", "5, may 2003"].each { |s| p [s, Date._parse(s)] }

p ERB::Util.html_escape("\xC0<"), ERB::Util.html_escape("\xC0<").encoding, ERB::Util.html_escape("<ä>\xff&\"'")
p ERB::Util.html_escape("\xE4<".dup.force_encoding("ISO-8859-1")).encoding

# Bytes that ISO-2022-JP does not have, replaced.
text = "a\x8ab".dup.force_encoding("ISO-2022-JP")
p text.encode("UTF-8", invalid: :replace, undef: :replace, replace: "?"), text.encode("UTF-8", invalid: :replace), text.encode("UTF-16LE", invalid: :replace, replace: "").bytes
p "\e$B$\"\x8a\e(Bx".dup.force_encoding("ISO-2022-JP").encode("UTF-8", invalid: :replace, replace: "?").end_with?("?x")
p (begin; text.encode("UTF-8"); rescue Encoding::InvalidByteSequenceError; :invalid; end)
