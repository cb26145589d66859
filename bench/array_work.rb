# Array work: filling, sorting, searching, slicing, queues, matrices, sieve, higher-order methods.

rounds = (ARGV[0] || 28).to_i

def pseudo_random(n, seed)
  Array.new(n) { seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff }
end

def sieve(n)
  composite = Array.new(n + 1, false)
  count = 0
  i = 2
  while i <= n
    unless composite[i]
      count += 1
      j = i * i
      while j <= n
        composite[j] = true
        j += i
      end
    end
    i += 1
  end
  count
end

def multiply(a, b)
  columns = b.transpose
  a.map { |row| columns.map { |col| row.zip(col).sum { |x, y| x * y } } }
end

def quicksort(list)
  return list if list.size < 2
  pivot, *rest = list
  low, high = rest.partition { |x| x < pivot }
  quicksort(low) + [pivot] + quicksort(high)
end

total = 0
rounds.times do |round|
  data = pseudo_random(20_000, round + 1)
  sorted = data.sort
  total += sorted[100] + data.sort { |a, b| b <=> a }[100] + data.sort_by { |x| -x }[5]
  total += data.map { |x| x & 255 }.select(&:even?).reduce(:+)
  total += data.each_slice(7).sum { |s| s.min } % 1_000_003
  total += data.each_cons(3).count { |a, b, c| a < b && b < c }
  1_000.times { |i| total += sorted.bsearch { |x| x >= i * 2_000_000 } || 0 }
  total += sieve(60_000)

  m = Array.new(40) { |i| Array.new(40) { |j| (i * j + round) % 10 } }
  total += multiply(m, m).flatten.sum
  total += quicksort(data.first(4_000)).each_with_index.sum { |x, i| x * i % 7 }

  queue = []
  30_000.times do |i|
    queue.push(i)
    total += queue.shift if queue.size > 100
  end
  stack = []
  20_000.times { |i| i % 3 == 2 ? total += stack.pop : stack.push(i) }

  inner = 0
  xs = Array.new(10_000) { |i| i * 0.5 }
  xs.each_with_index { |x, i| inner += x * xs[-i - 1] }
  total += inner.to_i

  total += (1..7).to_a.permutation.count { |p| p[0] < p[6] }
  total += (0...30).to_a.combination(3).sum { |a, b, c| a ^ b ^ c }
  total += data.uniq.size + (data & sorted).size + (data - sorted).size + data.rotate(3).first
  total += data.each_with_object([]) { |x, acc| acc.unshift(x) if x % 50 == 0 }.size
  total += data.dup.fill { |i| i }.take_while { |x| x < 5_000 }.inject { |a, b| a + b }
  total += [data.first(500), [sorted.first(500), [1, [2, [3]]]]].flatten.size
end
puts "total #{total}"
