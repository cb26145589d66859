# String#squeeze of texts longer than a block, with sets, of several encodings.
texts = ["a" * 200, "ab" * 100, "aabb" * 50, "  a  b   c" * 30, "x" * 63 + "yy" + "z" * 70, "é" * 100 + "aa" * 50, "aa\u00e9\u00e9" * 40, "a" * 64 + "a" * 64 + "b",
         ("aab".b + "\xff\xff".b) * 40, "日本本語  語" * 20, "a" * 65, "", "a", "aa"]
sets = [[], ["a"], ["a-c"], ["^a"], [" "], ["a-z", "^b"], ["é"], ["\u0000-\u{10ffff}"]]
texts.each do |t|
  sets.each do |s|
    r = begin t.squeeze(*s) rescue $!.class end
    print r.is_a?(String) ? "#{r.length}:#{r.hash == r.dup.hash}:#{r[0, 12].inspect} " : "#{r} "
  end
  puts
end
p ("aa" * 100).encode("UTF-16LE").squeeze.encode("UTF-8"), ("ああ" * 40).encode("Shift_JIS").squeeze("あ".encode("Shift_JIS")).encode("UTF-8")
