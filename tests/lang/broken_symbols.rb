# Symbols with interpolated parts whose names are not valid in their encoding.
broken = "ab\xff"
latin = "\xe9".dup.force_encoding("ISO-8859-1")
tries = [
  -> { :"x#{broken}" }, -> { %I[a#{broken} b] }, -> { { "a#{broken}": 1 } }, -> { :"#{broken}#{1}" }, -> { broken.to_sym },
  -> { :"x#{latin}" }, -> { :"é#{1}" }, -> { :"x#{"\xff".b}" }, -> { :"#{broken.b}" }, -> { %I[a#{1} b] }
]
tries.each { |t| p((v = t.call; v.is_a?(Symbol) ? [v, v.encoding] : v)) rescue p $!.class, $!.message }
3000.times { |i| :"k#{i % 3}" }
hot = lambda do |list|
  list.count do |s|
    :"n#{s}"
  rescue EncodingError
    false
  end
end
p hot.call(["a", "b", broken] * 3000)

p 1**-1, (-1)**-1, (-1)**-2, 1**-(2**70), (-1)**-(2**70 + 1), 2**-1, (-2)**-2
p true.method(:!).owner, nil.method(:!).owner
class BasicObject
  def ! = :own
end
p !true, !nil, !1, (not true)
