# A match that begins at or before the offset may end behind it.
p 5.times.map { |n| "blablabla".rindex(/.{#{n}}/, 5) }
p "blablabla".rindex(/bla./, 5), "abcabc".rindex(/b.*/, 4), "abcabc".rindex(/.*c/, 3)
p "aaa".rindex(/a+/, 1), "foobar".rindex(/o+/), "fooo".rindex(/(?<=f)o+/)
p "añbñc".rindex(/ñ./), "añbñc".rindex(/.ñ./, 1)
p "abc".rindex(/\Gb/, 1), "abc".rindex(/\Gb/, 2), "".rindex(/x*/), "xyz".rindex(/\z/), "xyz".rindex(/q/)
p "aXbXc".rindex(/x/i, 2), $~.begin(0), "ab\ncd".rindex(/^./), "あいあ".encode("EUC-JP").rindex("あ".encode("EUC-JP"))
p "あいあ".encode("EUC-JP").rindex(Regexp.new("あ.".encode("EUC-JP")))
s = "a" * 5000
p s.rindex(/b/), s.rindex(/a{3}/), s.rindex(/(a)\1\1/)
p "a\r\n".encode("UTF-16LE").chomp == "a".encode("UTF-16LE"), "a\r\n".encode("UTF-32BE").chop.length, "a\r".encode("UTF-16BE").chomp.length
p "🏳️‍🌈a".encode("UTF-16LE").grapheme_clusters.size
