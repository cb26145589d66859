# Sets of characters in encodings whose longer characters have bytes that look like ASCII: tr, tr_s, delete, squeeze, count; and casecmp.
def e(s) = s.dup.force_encoding("EUC-JP")
def s(s) = s.dup.force_encoding("Shift_JIS")
def w(s) = s.encode("UTF-16LE")
def t
  r = yield
  p(r.is_a?(String) ? [r.bytes, r.encoding] : r)
rescue => error
  puts "#{error.class}: #{error.message}"
end

t { s("\x83A\x83B").tr("A", "z") }
t { s("\x83A\x83B").tr(s("\x83A"), "z") }
t { s("\x83\x7d\x83\x7e\x83\x80\x83\x81").tr(s("\x83\x7d-\x83\x81"), "1-4") }
t { s("1234").tr("1-4", s("\x83\x7d-\x83\x81")) }
t { s("\x83A").count("A") }
t { s("\x83AA").delete("A") }
t { e("\xa4\xa2\xa4\xa2\xa4\xa4").squeeze }
t { e("\xa4\xa2\xa4\xa4\xa4\xa4").squeeze(e("\xa4\xa2")) }
t { e("\xa4\xa2\xa4\xa4").tr_s(e("\xa4\xa1-\xa4\xf3"), "x") }
t { e("\xa4\xa2b").tr(e("^\xa4\xa2"), "x") }
t { "abc".tr("a", e("\xa4\xa2")) }
t { "abc".tr("\u3042", e("\xa4\xa2")) }
t { "abc".encode("US-ASCII").tr("z", "\u3042") }
t { e("\xa4\xa2").count(e("\xa4\xa4-\xa4\xa2")) }
t { w("hello").tr(w("a-y"), w("b-z")) }
t { w("hello").tr(w("^l"), w("*")) }
t { w("aabbcc").squeeze }
t { w("aabbcc").count(w("a-b")) }
t { w("a\\b-c").delete(w("\\\\\\-")) }
p (+"hello").tr!("l", "l"), (+"hello").tr_s!("l", "l"), (+"hello").tr!("x", "y"), (+"hello").tr!("l", "")
p s("\x81\x41").casecmp(s("\x81\x61")), s("\x81\x41B").casecmp(s("\x81\x41b")), e("\xa4\xa2A").casecmp("a")
