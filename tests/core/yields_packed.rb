# What each yields at once comes to blocks of Enumerable as one Array; procs of Symbols and Methods get that.
e = [30, 10, 20].each_with_index
p e.sum { |x| x.is_a?(Array) ? x[0] * x[1] : -1 }, e.sum { |x, i| x * i }, %w[a b].each_with_index.sum("") { |x| x.to_s }
p [3, 1].each_with_object([]).sum { |x| x.is_a?(Array) ? 1 : 50 }
class Pair
  include Enumerable
  def each = yield(3, 1)
end
p Pair.new.sum { |x| Array === x ? 1 : 100 }, Pair.new.select { |x| x }, Pair.new.map { |x| x }
def optional(x, y = 7) = [x, y]
p %w[x y].each_with_index.group_by(&method(:optional)), %w[x y].each_with_index.group_by(&->(*x) { x })
p e.min_by(&:first), e.max_by(&:last), e.minmax_by(&:first), e.sort_by(&:first), e.group_by(&:last), e.partition(&:first), e.find(&:last), e.drop_while(&:first), e.reject(&:to_s)
p e.select(&->(pair) { pair[1] > 0 }), e.select(&->(x, i) { i > 0 }), e.min_by(&->(x, i) { -i }), e.select(&lambda(&:last)), "a\nb".each_line.with_index.max_by(&:last), %w[a b].each.with_index(1).min_by(&:last)
r = []
(1..3).zip { |x| r << x }
[4].zip { |x| r << x }
5.downto(4).zip { |x| r << -x }
p r
p [1].uniq! { raise "asked" }, [[nil]].uniq { |x| x + 1 }, [1].sort_by! { raise "asked" }, [1, 1].uniq { |x| x }
