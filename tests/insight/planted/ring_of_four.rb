# A pipeline of three VMs, which gets its next message when the last one has come out of it.
require_relative "work"
channels = %w[a b c d].map { |name| RubyVM::Channel.new(name:) }
stages = %w[read parse store].zip(channels.each_cons(2)).map do |name, (from, into)|
  RubyVM.fork(from, into, name:) { |from, into| from.each { |n| work(2); into << n }; into.close }
end
120.times { |n| channels.first << n; channels.last.recv }
channels.first.close
stages.each(&:join)
