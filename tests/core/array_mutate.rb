a = [1, 2, 3]
a << 4; a.push(5, 6); a.unshift(0); a.append(7).prepend(-1); p a
p a.pop
p a.shift
p a.pop(2)
p a.shift(2)
p a
a[5] = :far; p a
a[1..2] = [:x, :y, :z]; p a
a[0, 2] = []; p a
a[-1] = :last; p a
a.insert(2, :ins, :ins2); p a
a.insert(-2, :neg); p a
p a.delete(:ins)
p a.delete(:none)
p a.delete(:none) { :blk }
p a.delete_at(0)
p a.delete_at(99)
p a
p a.concat([1], [2])
p a.compact!
p a.compact!
p a.replace([3, 1, 2, 3])
p a.sort!
p a.reverse!
p a.uniq!
p a.uniq!
p a.map! { |x| x * 2 }
p a.select!(&:positive?)
p a.reject! { |x| x > 4 }
p a.keep_if { true }
p a.delete_if { |x| x == 2 }
p a.fill(9)
p a.fill(0, 0, 1)
p a.clear
b = [1, 2, 3, 4, 5]
p b.slice!(1, 2)
p b
p b.slice!(-1)
p b
p b.rotate!
p b.shuffle!(random: Random.new(1)).sort
p b.push(*[7, 8]).size
p b.flatten!
p [1, [2]].flatten!
p b.sort_by! { |x| -x }
p b.collect! { |x| x + 1 }
p b.fill { |i| i * i }
p Array.new(3).fill { |i| i }
begin; b[-9] = 1; rescue IndexError => e; p e.message; end
begin; b.insert(-9, 1); rescue IndexError => e; p e.message; end
begin; [1].freeze << 2; rescue FrozenError => e; p e.message; end
c = [1, 2, 3, 4]
c.each { |x| c.delete(x) if x == 2 }
p c
d = [0] * 3
d[1] += 5
p d, (d[7] ||= 3), d
e = (1..10).to_a
e.delete_if.with_index { |x, i| i.even? }
p e
p e.push(1).pop
p e.first(0)
p e.partition(&:even?)
