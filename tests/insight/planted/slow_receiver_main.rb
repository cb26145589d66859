# The main VM collects what others make, slower than they make it.
require_relative "work"
results = RubyVM::Channel.new(2, name: "results")
workers = 4.times.map { |i| RubyVM.fork(results, name: "worker#{i}") { |out| 30.times { |n| work(3); out << n } } }
120.times { results.recv; work(12) }
workers.each(&:join)
