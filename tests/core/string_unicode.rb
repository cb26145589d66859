s = "Ünïcödé – 日本語 😀"
p s.length
p s.bytesize
p s.reverse
p s.upcase
p s.downcase
p s.chars.last(3)
p s[9]
p s[10, 3]
p s.index("日")
p s.each_char.map(&:bytesize)
p s.codepoints.last
p s.bytes.first(4)
p s.valid_encoding?
p s.encoding
p s.ascii_only?
p "abc".ascii_only?
p s.unpack("U*").size
p [26085].pack("U")
p "\u65e5" == "日"
p "é".bytes
p "é".b
p "é".b.length
p "é".force_encoding("BINARY").valid_encoding?
p "\xE9".force_encoding("ISO-8859-1").encode("UTF-8")
p "é".encode("ISO-8859-1").bytes
p "é".unicode_normalize(:nfd).length
p "ß".upcase
p "ǆ".capitalize
p "İ".downcase.length
p "ΑΣ".downcase
p "\xff\xfeabc".scrub
p "\xff".scrub("?")
p "a\xffb".scrub { |b| "<#{b.unpack1('H*')}>" }
p "\xff".inspect
p "a\xE3\x81".inspect
p "\xE3\x81\x82".inspect
begin; "é" + "\xE9".force_encoding("ISO-8859-1"); rescue => e; p e.class, e.message; end
begin; "\xff" =~ /x/; rescue => e; p e.class, e.message; end
begin; "日".encode("US-ASCII"); rescue => e; p e.class, e.message; end
p "日".encode("US-ASCII", undef: :replace)
p "日".encode("US-ASCII", fallback: { "日" => "ni" })
p "日本".center(8, "*")
p "日本".ljust(4).size
p "日本語".tr("日本", "ab")
p "日本語".include?("本")
p "añb".succ
p "日".ord
p 26085.chr("UTF-8")
p "日本語".slice(1..)
p "日本語".byteslice(3, 3)
p "日本語".each_grapheme_cluster.count
p "👨‍👩‍👧".grapheme_clusters.size
p "abc".encode("UTF-16LE").bytes
p "abc".encode("UTF-16LE").length
p "é" == "e\u0301"
p "é".casecmp?("É")
p "é".casecmp("É")
p "naïve".capitalize
p "ÀÉ".swapcase
p :"é".to_s
p "é".hash == "é".dup.hash
p "é".eql?("é".b)
# Needs the standard library.
