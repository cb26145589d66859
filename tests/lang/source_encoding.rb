# Encodings of literals follow the source's, which a magic comment names.
def show(text)
  r = eval(text)
  r.each { |v| p v }
end
show "# encoding: big5\n[__ENCODING__, 'a'.encoding, \"a\#{1}\".encoding, :\"\\xA4\\x40\".encoding]"
show "[__ENCODING__, 'a'.encoding]".b
show "# vim: set fileencoding=euc-jp :\n[__ENCODING__, /a/e.encoding, /a/s.encoding]"
begin
  "\u3042 #{"\xff".b}"
rescue => e
  p e.class, e.message
end
p "#{"\xff".b}a".encoding
p "é".encode("ISO-8859-1").to_sym == :é
p "é".encode("ISO-8859-1").to_sym.encoding
begin
  eval("1".encode("UTF-16LE"))
rescue => e
  p e.class, e.message
end
# Clauses are no levels of their own.
begin
  begin
    raise "inner"
  rescue
    p caller_locations(0, 2).map { |l| [l.lineno, l.label] }
    raise "outer"
  end
rescue => e
  p e.backtrace.map { |l| l[/:(\d+:.*)/, 1] }
end
