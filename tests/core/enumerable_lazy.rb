calls = []
r = (1..10).lazy.map { |x| calls << x; x * 2 }.select { |x| x % 4 == 0 }.first(2)
p r, calls
p (1..Float::INFINITY).lazy.select(&:even?).map { |x| x * x }.reject { |x| x % 3 == 0 }.first(4)
p((1..3).lazy.flat_map { |x| [x] * x }.to_a)
p((1..9).lazy.each_slice(2).map(&:sum).to_a)
p((1..4).lazy.zip(5..8).to_a)
p((1..20).lazy.take_while { |x| x < 5 }.to_a)
p((1..6).lazy.drop_while { |x| x < 4 }.to_a)
p((1..6).lazy.drop(2).take(2).to_a)
p((1..3).lazy.force)
p((1..3).lazy.eager.map { |x| x })
p((1..3).lazy.include?(2))
p((1..3).lazy.uniq { |x| x % 2 }.to_a)
p((1..3).lazy.with_index.map { |x, i| x * i }.to_a)
p((1..3).lazy.filter_map { |x| x if x > 1 }.to_a)
p((1..3).lazy.reduce(:+))
p((1..3).lazy.map { _1 }.size)
p((1..3).lazy.compact.to_a)
p [[1, 2]].lazy.map { |a, b| a + b }.to_a
p [3, 1].lazy.sort
p((1..4).lazy.partition(&:even?))
p((1..3).lazy.tally.to_a)
primes = (2..).lazy.select { |n| (2..Integer.sqrt(n)).none? { |d| n % d == 0 } }
p primes.first(10)
p (1..3).lazy.tap { |l| }.class, (1..2).lazy.lazy.class, (1..3).each_entry.lazy.map { |x| x + 1 }.first
