# Ranges of Integers of any size, from behind and by halving.
b = 2**64
p (b..b + 3).reverse_each.to_a.map { |x| x - b }, (b...b + 3).reverse_each.map { |x| x - b }
p (b..b - 1).reverse_each.to_a, (b...b).reverse_each.to_a, (5..b).reverse_each.first(2).map { |x| x - b }
p (4611686018427387902..4611686018427387905).reverse_each.to_a
p (-4611686018427387906..-4611686018427387903).reverse_each.to_a
p (..b).reverse_each.first(2).map { |x| x - b }, (...b).reverse_each.first(2).map { |x| x - b }, (..3).reverse_each.first(5), (...3).reverse_each.first(2)
p (b..b + 2).reverse_each { }.equal?(nil), (b..b + 2).reverse_each.size
begin
  (1.5..b).reverse_each { }
rescue => e
  puts "#{e.class}: #{e.message}"
end
begin
  (..1.5).reverse_each { }
rescue => e
  puts "#{e.class}: #{e.message}"
end
begin
  (1..).reverse_each { }
rescue => e
  puts "#{e.class}: #{e.message}"
end
p (0..1000).bsearch { |x| x >= 77 }, (0...77).bsearch { |x| x >= 77 }, (0..77).bsearch { |x| x >= 77 }, (0..1000).bsearch { |x| 50 <=> x }, (0..10).bsearch { nil }
p (b..b * 2).bsearch { |x| x >= b + 12345 } - b, (-b..b).bsearch { |x| x >= -5 }, (-b..b).bsearch { |x| x <=> 3 }, (b...b + 1).bsearch { |x| x > b }
p (4611686018427387900..4611686018427387910).bsearch { |x| x >= 4611686018427387905 }, (-4611686018427387904..0).bsearch { |x| x >= -4611686018427387904 }
p (0..).bsearch { |x| x >= 10**30 } == 10**30, (..0).bsearch { |x| x >= -10**30 } == -10**30, (b..).bsearch { |x| x >= b }, (...5).bsearch { |x| x >= 4 }, (...5).bsearch { |x| x >= 5 }
seen = []
(0..100).bsearch { |x| seen << x; x >= 60 }
p seen
[[0..1.0, 0.3], [-1.0..1.0, 0.0], [-5..9, 2], [-7...8, -3], [-(2**64)..2**64, 7], [2**64..2**65, 2**64 + 99], [3.., 900], [-40.., -3], [..90, -800], [...90, 89], [..-4, -2**70], [2**63.., 2**70], [..2**64, 5]].each do |r, x|
  seen = []
  found = r.bsearch { |y| seen << y; y >= x }
  p [r, found, seen.size, seen.first(6), seen.last(4)]
  p r.bsearch { |y| x <=> y } == x
end
begin
  (0..10).bsearch { "x" }
rescue => e
  puts "#{e.class}: #{e.message}"
end
