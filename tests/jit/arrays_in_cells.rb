# Arrays of few elements lie in their cells, which are as large as what they are made for: machine code makes them, reads and writes them, fills them to their end and beyond.

def literals(i)
  [[i, 1, 2, 3], [i, 1, 2, 3, 4], [i, 1, 2, 3, 4, 5], [i, 1, 2, 3, 4, 5, 6], [i, 1, 2, 3, 4, 5, 6, 7], [i, 1, 2, 3, 4, 5, 6, 7, 8]]
end

def sums
  total = 0
  20.times do |i|
    literals(i).each do |a|
      a[1] += a[-1]
      a[a.size - 1] = i
      total += a.inject(0) { |s, x| s + x } + a.length + a[0] + (a[a.length] || 1)
    end
  end
  total
end
p sums, sums

def grown(n, more)
  a = Array.new(n) { |i| i }
  before = a.dup
  more.times { |i| a << -i }
  a.unshift(:first)
  a[n + more + 2] = :last
  [before, a, a.shift, a.pop, a.pop, a.length, a.frozen?]
end
30.times do |n|
  r = nil
  20.times { r = grown(n, n % 7) }
  p r
end

def filled(n)
  a = Array.new(n, n)
  b = Array.new(n)
  n.times { |i| b[i] = a[i] + i }
  b
end
25.times { |n| 10.times { filled(n) } }
p filled(3), filled(4), filled(9), filled(19), filled(20), filled(40)

# Blocks that end the making, or look at what there is already.
def ended(n)
  Array.new(n) { |i| break [:ended, i] if i == 5; i }
end
p (0..12).map { |n| 5.times { ended(n) }; ended(n) }
def tried(n)
  Array.new(n) { |i| raise ArgumentError, "at #{i}" if i == 3; i }
rescue ArgumentError => e
  e.message
end
p (0..6).map { |n| 5.times { tried(n) }; tried(n) }

# Copies, parts, twins in messages and frozen ones.
(0..22).each do |n|
  a = Array.new(n) { |i| i.odd? ? "s#{i}" : i }
  b = a.dup
  b << :more
  c = a[1, n] || []
  c << :part if n > 0
  a.push(:own)
  d = Ractor.make_shareable(a.map { |x| x.is_a?(String) ? x.dup : x })
  e = Marshal.load(Marshal.dump(b))
  raise "copies of #{n}" unless a.size == n + 1 && b.size == n + 1 && b[0, n] == a[0, n] && e == b && d == a && d.frozen? && c.size == [n, 1].max - (n > 0 ? 0 : 1)
  q = Thread::Queue.new
  q << a.freeze
  raise "queue" unless q.pop.equal?(a)
  a = [*b, *c]
  a.replace(b)
  a.concat(a)
  raise "concat" unless a == b + b
  a.clear
  raise "clear" unless a.empty? && a.push(1, 2, 3, 4, 5) == [1, 2, 3, 4, 5]
end

# Many of each size, with references to young ones.
kept = []
2000.times do |i|
  a = Array.new(i % 21) { |k| "#{i}-#{k}" }
  a[a.size / 2] = [a.size, i, i, i, i]
  kept[i % 100] = a
end
GC.start
p kept.sum { |a| a.flatten.sum { |x| x.to_s.size } }
