r = (1..10)
p r.to_a
p((1...10).size)
p r.sum
p r.include?(5)
p r === 5.5
p r.cover?(2..3)
p r.member?(11)
p r.first
p r.first(3)
p r.last
p r.last(2)
p r.min
p r.max
p r.minmax
p((1...10).max)
p r.step(3).to_a
p((1..10) % 4)
p r.each_slice(4).to_a
p r.to_s
p r.inspect
p(("a".."e").to_a)
p(("a".."e").include?("c"))
p(("a".."e") === "cc")
p(("a".."e").cover?("cc"))
p r.count
p r.count(&:even?)
p((1..0).to_a)
p((1..0).sum)
p((1..0).min)
p r == (1..10)
p r.eql?(1..10)
p r.hash == (1..10).hash
p r.begin
p r.end
p r.exclude_end?
p((1...3).exclude_end?)
p r.select(&:even?)
p r.inject(:*)
p r.each_cons(2).first
p((1..).first(2))
p((..5).include?(3))
p((1..nil).size)
p((1..).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }.first(2))
p((nil..nil).to_s)
p((1.0..2.0).include?(1.5))
p((1.0..2.0).step(0.5).to_a)
p 1.step(2, 0.25).to_a
p(("a".."zz").count)
p(("A".."C").map(&:downcase))
p((0.5..2).include?(1))
p r.reverse_each.first(2)
p((1..3).cycle.first(5))
p((1..3).each_entry.to_a)
p((1..10).bsearch { |x| x >= 7 })
p((0..4).each_with_object([]) { |x, a| a << x })
p Range.new(1, 3, true)
p((1..3).frozen?)
p((1..2.5).to_a)
p((1..3).zip(4..6))
p((1..4).each_with_index.map { |x, i| x * i })
p((1..3).reduce(:+))
p((1..6).partition(&:even?))
p((1..3).flat_map { |x| [x] * x })
p((1..10).find { |x| x > 4 })
begin; (1.5..2).to_a; rescue TypeError => e; p e.message; end
begin; (1..).to_a; rescue RangeError => e; p e.message; end
begin; (1.."a"); rescue ArgumentError => e; p e.message; end
begin; (..1).each {}; rescue TypeError => e; p e.message; end
begin; (..1).first; rescue RangeError => e; p e.message; end
p [1, 2, 3, 4][1..]
p "hello"[1..3]
p "hello"[..-2]
p((1..10).each_slice(3).map(&:sum))
p((1..3).sum { |x| x * 2.0 })
p((2**64..2**64 + 2).to_a)
p((2**64..2**64 + 2).size)
p(("08".."11").to_a)
p(("a".."c").each_cons(2).to_a)
p((:a..:d).to_a)
p((1...1).none?)
p((1..2).each { |x| break x })
