require_relative "support/pair"
list = [1, "text", { k: [2.5, nil] }, 2**100, 1..3, :sym]
there = RubyVM::Channel.new
back = RubyVM::Channel.new
vm = RubyVM.new("ruby", "-e", <<~'RUBY')
  there, back = RubyVM::ARGV
  got = there.recv
  got[1] << " changed"
  got[2][:k] << :more
  got << :added
  back << got
RUBY
vm.start(there, back)
there << list
answer = back.recv
vm.join
p list[1], list[2][:k], list.size, answer[1], answer[2][:k], answer.size, answer[3] == 2**100, answer[4]
shared = "both"
pairs = [shared, shared]
there << pairs
copy = there.recv
p copy[0].equal?(copy[1]), copy[0].equal?(shared)
cycle = []
cycle << cycle
there << cycle
c = there.recv
p c[0].equal?(c), c.equal?(cycle)
big = "x" * 5_000_000
there << big
big[0] = "y"
other = there.recv
other[1] = "z"
p big[0, 2], other[0, 2], big.size, other.size
