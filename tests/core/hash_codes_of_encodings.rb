# Strings of the same bytes that are not eql? for their encodings have different hash codes; those that are have the same.
bytes = ["\x80", "\x81"].map { |c| c.b.hash ^ c.hash }
p bytes.uniq.size, bytes.include?(0)
p ["a", "a".b, "a".encode("us-ascii"), "a".dup.force_encoding("euc-jp")].map(&:hash).uniq.size
p "".hash == "".encode("utf-32be").hash, "ab".dup.force_encoding("utf-16le").hash == "ab".hash
h = { "\u00e9" => 1, "\u00e9".b => 2, "\u00e9".dup.force_encoding("iso-8859-1") => 3, "x" => 4, "x".b => 5 }
p h.size, h["\u00e9"], h["\u00e9".b], h["\u00e9".dup.force_encoding("iso-8859-1")], h["x".dup.force_encoding("shift_jis")]
