# Products of matrices of Floats and of Integers: Arrays of Arrays, indices by Ranges.

def matrix(n, seed)
  (0...n).map { |i| (0...n).map { |j| (i * seed + j) % 17 * 0.25 } }
end

def product(a, b)
  n = a.size
  columns = b.transpose
  (0...n).map do |i|
    row = a[i]
    columns.map do |column|
      sum = 0.0
      (0...n).each { |k| sum += row[k] * column[k] }
      sum
    end
  end
end

def integer_product(a, b, n)
  c = Array.new(n) { Array.new(n, 0) }
  i = 0
  while i < n
    j = 0
    while j < n
      sum = 0
      k = 0
      while k < n
        sum += a[i][k] * b[k][j]
        k += 1
      end
      c[i][j] = sum
      j += 1
    end
    i += 1
  end
  c
end

n = 180
a = matrix(n, 3)
b = matrix(n, 5)
3.times { a = product(a, b).map { |row| row.map { |x| x % 8.0 } } }
puts a.sum { |row| row.sum }
x = a.map { |row| row.map(&:to_i) }
y = b.map { |row| row.map(&:to_i) }
3.times { x = integer_product(x, y, n).map { |row| row.map { |v| v % 64 } } }
puts x.sum { |row| row.sum }
