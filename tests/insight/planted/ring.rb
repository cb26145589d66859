# A pipeline of two VMs, which gets its next message when the last one has come out of it.
require_relative "work"
a, b, c = %w[a b c].map { |name| RubyVM::Channel.new(name:) }
parse, store = [["parse", a, b], ["store", b, c]].map { |name, from, into| RubyVM.fork(from, into, name:) { |from, into| from.each { |n| work(2); into << n }; into.close } }
150.times { |n| a << n; c.recv }
a.close
[parse, store].each(&:join)
