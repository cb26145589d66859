3.times { |i| print i }
1.upto(3) { |i| print i }
3.downto(1) { |i| print i }
1.step(10, 3) { |i| print i, " " }
1.0.step(2.0, 0.5) { |f| print f, " " }
10.step(1, -4) { |i| print i, " " }
1.step(by: 2, to: 5) { |i| print i, " " }
puts
p 3.times.to_a, 1.step(10, 4).to_a, 5.downto(3).map { |x| x * 2 }
("a".."e").each_with_index { |c, i| print c, i }
%w[a b c].each.with_index(1) { |s, i| print i, s }
(1..10).step(3) { |x| print x, " " }
(0.0..1.0).step(0.25) { |x| print x, " " }
[5, 6].cycle(2) { |x| print x }
puts
p [1, 2, 3, 4].each_slice(2).to_a, [1, 2, 3].each_cons(2).to_a, (1..Float::INFINITY).lazy.map { |x| x * 2 }.first(3)
p 10.times.each_slice(4).map(&:sum)
