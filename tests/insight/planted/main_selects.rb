# Two VMs compute on two cores; the main VM takes what they make, and stands behind them each time.
require_relative "work"
results = 2.times.map { |i| RubyVM::Channel.new(name: "results#{i}") }
workers = results.each_with_index.map { |results, i| RubyVM.fork(results, name: "worker#{i}") { |out| 1000.times { |n| work(2); out << n } } }
2000.times { RubyVM.select(*results) }
workers.each(&:join)
