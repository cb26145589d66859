# Keywords that are written and not there: one value beside them is no list, unless the block has required parameters alone.
def one(x, k) = yield(x, **k)
def listed(*s) = yield(*s)
none = {}
flagged = Hash.ruby2_keywords_hash({})
p one([1, 2], none) { |a, b| [a, b] }
p one([1, 2], none) { |a,| [a] }
p one([1, 2], none) { |a, b = 0| [a, b] }
p one([1, 2], none) { |a, *b| [a, b] }
p one([1, 2], none) { |a, b, k: 1| [a, b, k] }
p one([1, 2], none) { |a, b, **k| [a, b, k] }
p one([1, 2], none) { |a, b, **nil| [a, b] }
p one([1, 2], none) { |a, b, &c| [a, b, c] }
p one([1, 2], none) { |(a, b), c| [a, b, c] }
p one([1, 2], { k: 3 }) { |a, b = 0, k: 1| [a, b, k] }
p listed([1, 2], flagged) { |a, b| [a, b] }
p listed([1, 2], flagged) { |a, b = 0| [a, b] }
p listed([1, 2], flagged) { |a, b, **nil| [a, b] }
p listed([1, 2]) { |a, b = 0| [a, b] }
p listed([1, 2], {}) { |a, b = 0| [a, b] }
p [[1, 2]].each { |a, b = 0| p [a, b] }
pass = proc { |a, b = 0| [a, b] }
def over(x, k, &b) = one(x, k, &b)
p over([1, 2], none, &pass)
100.times { |i| one([i, 1], none) { |a, b = 5| raise unless b == 5 } }
