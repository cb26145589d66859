# Which of two elements is asked, as messages and blocks tell it.
def asked = yield rescue $!.message
one, two = [nil, 3], [3, nil]
[one, two].each do |a|
  p asked { a.max }, asked { a.min }, asked { a.minmax }
  p asked { a.each_entry.max }, asked { a.each_entry.min }, asked { a.each_entry.minmax }
  p asked { a.max_by { _1 } }, asked { a.minmax_by { _1 } }, asked { a.sort }
end
p asked { [1, nil, 2].each_entry.minmax }, asked { [1, 2, nil].each_entry.minmax }, asked { [1, 2, 3, nil].each_entry.minmax }
pairs = []
p (1..5).minmax { |a, b| pairs << [a, b]; a <=> b }, pairs
p [3, 1, 2].minmax, [].minmax, [7].minmax, %w[b a c].each_entry.minmax, [[2, 1], [1, 2]].minmax_by(&:last), [1, 1.0].minmax, [1.0, 1].each_entry.minmax
p [2, 2.0].max, [2.0, 2].max, [2, 2.0].min, [0.0, -0.0].minmax, (1..4).each_entry.minmax_by { -_1 }
