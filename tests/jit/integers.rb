# Methods of Integer in hot loops, at the ends of small ones.
def all(n) = [n.abs, n.magnitude, n.even?, n.odd?, n.zero?, n.succ, n.next, n.pred]
ends = [0, 1, -1, 2, -2, 4611686018427387903, -4611686018427387904, 4611686018427387904, -4611686018427387905, 2**70, -2**70, 7, -8]
sums = nil
3000.times { |i| sums = all(i - 1500) }
p sums
ends.each { |n| p all(n) }
2000.times { all(1) }
p((all(1.5) rescue $!.class))
class Integer
  alias old abs
  def abs = old + 1000
end
p all(-3)
