p 5.times.sum
p 1.upto(5).to_a
p 5.downto(1).select(&:even?)
p 1.step(10, 4).to_a
p 10.step(1, -3).to_a
p 1.step(by: 3).first(3)
p 1.step(2, 0.5).to_a
p 3.times.map { |i| i * i }
p 0.times.to_a
p 5.upto(1).to_a
p(-3.times { })
p 3.times { |i| break i * 10 if i == 1 }
p 1.upto(Float::INFINITY).lazy.map { |x| x * 2 }.first(2)
p((2**62 - 1).upto(2**62 + 1).to_a)
p 10.pred.succ
x = 0
1.upto(100) { |i| x += i }
100.downto(1) { |i| x -= i }
p x
p 7.digits.sum
p 2**10
p 10.pow(3)
p 1024.bit_length
p 255.to_s(2).count("1")
p 100.digits.reverse.join.to_i
p 17.times.each_slice(5).map(&:size)
p 12.times.each_cons(2).all? { |a, b| b == a + 1 }
p 6.times.partition(&:even?)
p 4.times.to_a.permutation.count
p 3.times.cycle.first(7)
