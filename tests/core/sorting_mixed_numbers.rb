# Integers and Floats side by side: their order is exact, equal ones keep their places in sort_by, and NaN, big Integers and methods of one's own are asked.
big = 2**53
p [3, 2.5, 1, 2.0, -1.5, 0, -0.0].sort
p [big + 1, big.to_f, big, (big + 2).to_f].sort
p [2**61, -(2**61), 2.0**61, -2.0**62, 2.0**63, Float::INFINITY, -Float::INFINITY].sort
p [2**62, 2.0**62, 2**70, 2.0**70 * 2, 1].sort
p [[1, :a], [1.0, :b], [0.5, :c], [0, :d], [-0.0, :e]].sort_by(&:first)
p [5, 1.5, 3].sort_by { |x| -x }
p [5, 1.5, 3, 2.5].minmax, [1, 1.0].max, [1.0, 1].min, [4, 2.5, 7].max_by { |x| x % 3 }
begin
  [1, Float::NAN, 2.5].sort
rescue => e
  p e.class
end
begin
  [Float::NAN, 1].max
rescue => e
  p e.class
end

class Integer
  alias compared <=>
  def <=>(other) = other.is_a?(Float) ? -1 : compared(other)
end
p [1.5, 3, 2, 1].sort_by { |x| x }.size
p [3, 1.5].sort { |a, b| a.to_f <=> b.to_f }
