# Builtins that keep what a block answers, and in-place ones, whose blocks go round: as CRuby has it, in all modes.
a = [3, 1, 2]
p a.map.with_index(1) { |x, i| x * i }, a.each.with_index { |x, i| }, a.select.with_index { |x, i| i > 0 }, a.reject.with_index { |x, i| i > 0 }, a.filter_map.with_index { |x, i| x if i > 0 }
p a.each_with_index.map { |x, i| x * i }, a.each_with_index.map { |x| x }, a.each_with_index.map { |x, | x }, a.each_with_index.to_h { |x, i| [x, i] }, a.each_with_index.sum { |x, i| x * i }, a.each_with_index.count { |x, i| x > i }, a.each_with_index.flat_map { |x, i| [x] * i }, a.each_with_index.any? { |x, i| x < i }, a.each_with_index.find_index { |x, i| x < 3 }
p (1..4).each_with_index.map { |x, i| [x, i] }, (1..4).map.with_index(2).to_a, a.map.with_index { |x| x }, a.map.with_index { |*x| x }, a.map.with_index(&->(x, i) { x + i })
p a.partition { |x| x > 1 }, a.group_by { |x| x.odd? }, a.min_by { |x| -x }, a.max_by { |x| x.to_f }, a.flat_map { |x| x == 1 ? x : [x, [x]] }, a.uniq { |x| x & 1 }, a.sort_by { |x| -x }
p a.to_h { |x| [x.to_s, x] }, a.find_index { |x| x == 2 }, a.each_slice(2).to_a, a.each_cons(2).to_a, a.zip([1, 2]), a.zip([1]) { |x, y| p [x, y] }
h = { a: 1, b: 2, c: 3 }
p h.map { |k, v| [k, v] }, h.map { |x| x }, h.select { |k, v| v > 1 }, h.reject { |k, v| v > 1 }, h.filter_map { |k, v| k if v > 1 }, h.any? { |k, v| v > 2 }, h.all? { |k, v| v > 2 }, h.none? { |k, v| v > 5 }, h.count { |k, v| v > 1 }, h.find { |k, v| v == 2 }, h.transform_values { |v| v * 2 }, h.any?([:a, 1]), h.all?(Array), h.none?([:a, 2])
h.delete(:a); p h.transform_values { |v| v + 1 }
b = [1, 2, 3, 4]; p b.map! { |x| x + 1 }, b.select! { |x| x > 2 }, b.reject! { |x| x > 4 }, b.delete_if { |x| x == 3 }, b.fill(0, 3) { |i| i }
b = (1..10).to_a; begin; b.reject! { |x| raise "x" if x == 5; x.odd? }; rescue; p b; end
b = (1..10).to_a; b.select! { |x| break if x == 5; x.odd? }; p b
b = (1..5).to_a; begin; b.map! { |x| b.freeze if x == 3; x * 2 }; rescue => e; p e.message, b; end
b = (1..5).to_a; begin; b.reject! { |x| b.freeze if x == 3; true }; rescue => e; p e.message, b; end
class Integer; def to_ary = [self, self]; end
p a.flat_map { |x| x }
# What a block does to the receiver meanwhile.
b = (1..6).to_a
p b.partition { |x| b.push(9) if x == 2 && b.size < 8; x.odd? }, b
p b.each_slice(2).map { |x| b.clear if x[0] == 3; x }, b
b = (1..6).to_a
p b.sort_by { |x| b.pop if x < 3; -x }, b
h = { a: 1, b: 2, c: 3 }
p h.map { |k, v| h.delete(:c) if k == :a; [k, v] }, h
p h.transform_values { |v| h[:d] = 4 if v == 1; v + 1 }, h
begin
  p h.select { |k, v| h[k.to_s] = v; v > 1 }, h
rescue => e
  p e.class, e.message
end
p Ractor.make_shareable({ a: 1, b: 2 }).transform_values { |v| v + 1 }, Ractor.make_shareable({ a: 1, b: 2 }).select { |k, v| v > 1 }, (1..40).to_h { |i| [i, i] }.select { |k, v| k % 9 == 0 }, {}.select { |k, v| true }
j = (1..40).to_h { |i| [i, i] }.reject { |k, v| k > 2 }
j[3] = 4
p j, j[1], j[3], j.compare_by_identity.select { |k, v| v > 1 }.compare_by_identity?
def first_odd(list) = list.find_index { |x| return [:found, x] if x.odd? }
p first_odd([2, 4, 5]), first_odd([2])
p [1, 2, 3].min_by { |x| break x if x == 2; x }, [3, 1].min_by { |x| x == 3 ? 1.5 : 1 }, [2, 1].max_by { |x| x.to_s }
begin
  [1, 2].min_by { |x| x == 1 ? 1 : "a" }
rescue => e
  p e.class, e.message[0, 31]
end
p [0.0, -0.0, Float::NAN].each_with_index.map { |x, i| x.nan? ? i : x }, [1, 2, 3].each.with_index(2**61) { |x, i| break [x, i] }
p (1..3).each_with_index.map { _1 + _2 }, (1..3).map.with_index { it }, [[1, 2], [3, 4]].each_with_index.map { |(a, b), i| a + b + i }
p [1, 2].zip([3]) { |a, b| p [a, b] }, [[1, 2]].zip([3]).map { |(a, b), c| [a, b, c] }
class Odd < Array; def each = super { |x| yield x + 100 }; end
o = Odd[1, 2, 3]
p o.partition { |x| x > 101 }, o.map.with_index { |x, i| [x, i] }, o.each_with_index.map { |x, i| [x, i] }, o.each_slice(2).to_a, o.sort_by { |x| -x }
GC.stress = true
p (1..40).map { |x| "#{x}" }.group_by { |x| x.size }.transform_values { |v| v.size }, (1..30).each_slice(4).map { |x| x.sum.to_s }, (1..20).flat_map { |x| [x.to_s] * 2 }.uniq { |x| x.to_i % 7 }
GC.stress = false
p (1..1000).find_index { |x| x > 500 }, (1..1000).to_a.index { |x| x > 500 }, (1..1000).take_while { |x| x < 500 }.size, (1..1000).find { |x| x > 500 }, (1..1000).to_h { |x| x > 500 ? [x.to_s, x] : [x, x] }.size
p (1..1000).min_by { |x| x > 500 ? x.to_r - 600 : x }, (1..1000).flat_map { |x| x > 500 ? x : [x] }.size, (1..1000).group_by { |x| x > 500 ? x.to_s[0] : x % 3 }.size, (1..1000).uniq { |x| x > 500 ? x.to_s[0, 2] : x % 3 }.size
