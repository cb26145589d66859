# `return` and `break` of blocks that machine code has inlined do not leave it: nothing is thrown.
def find(list, wanted)
  list.each { |v| return v if v == wanted }
  nil
end
def twice
  yield 1
  yield 2
end
def ends(n) = [n.times { |i| break i if i == 3 }, twice { |v| break v }]

list = (1..6).to_a
thrown = -> { RubyVM::JIT.stat[:exits].values_at(:raised, :resumed).sum }
step = lambda do
  before = thrown.call
  3000.times { |k| find(list, k % 6 + 1); ends(5) }
  thrown.call - before
end
# Ways out are tried on purpose in the other mode. (On busy cores machine code comes late.)
p RubyVM::JIT.stat[:mode] == :"exit-everywhere" || 300.times.any? { step.call < 300 }
