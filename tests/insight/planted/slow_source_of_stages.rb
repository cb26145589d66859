# A pipeline whose first VM computes for long. Who collects waits for the second one, which itself mostly waits.
require_relative "work"
parsed, counted = %w[parsed counted].map { |name| RubyVM::Channel.new(name:) }
store = RubyVM.fork(counted, name: "store") { |from| from.each { } }
count = RubyVM.fork(parsed, counted, name: "count") { |from, into| from.each { |n| work(4); into << n }; into.close }
read = RubyVM.fork(parsed, name: "read") { |into| 100.times { |n| work(20); into << n }; into.close }
[read, count, store].each(&:join)
