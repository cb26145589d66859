# Destructuring asks what has `to_ary`, be it nil, a number or a String.
class NilClass
  private def to_ary = [1, 2]
end
def nils
  a, b = nil
  [a, b]
end
p nils, nils
class Symbol; def to_ary = [to_s, 7]; end
class Float; def to_ary = [to_i, 7]; end
a, b = :a
p [a, b]
a, (b, c) = 1, 2.5
p [a, b, c]
[:x, 1.5].each { |v, w| p [v, w] }
class Hash; def to_ary = [:hash, 7]; end
a, b = {}
p [a, b]
def q = [yield({}), yield(nil), yield(1.5)]
p q { |v, w| [v, w] }
p q { |v, w = 3, **k| [v, w, k] }
l = ->(x,
       y) do
  1
end
p l.source_location[1]
BEGIN { puts "second"; BEGIN { puts "first"; BEGIN { puts "innermost" } } }
BEGIN { puts "third" }
for *x in [[1, 2], [3, 4], 5, []] do p x end
for * in [[1, 2]] do p :each end
for *$list in { a: 1 } do p $list end
