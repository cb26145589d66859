# A pipeline whose first VM sleeps between its messages: nobody's computing holds it up.
require_relative "work"
parsed, counted = %w[parsed counted].map { |name| RubyVM::Channel.new(name:) }
store = RubyVM.fork(counted, name: "store") { |from| from.each { } }
count = RubyVM.fork(parsed, counted, name: "count") { |from, into| from.each { |n| work(1); into << n }; into.close }
read = RubyVM.fork(parsed, name: "read") { |into| 80.times { |n| sleep 0.005; into << n }; into.close }
[read, count, store].each(&:join)
