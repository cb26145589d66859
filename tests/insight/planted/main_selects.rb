# More VMs than cores compute; the main VM takes what they make, and stands behind them each time.
require_relative "work"
jobs = RubyVM::Channel.new(name: "jobs")
results = 3.times.map { |i| RubyVM::Channel.new(name: "results#{i}") }
workers = results.each_with_index.map { |results, i| RubyVM.fork(jobs, results, name: "worker#{i}") { |jobs, out| jobs.each { work(10); out << 1 } } }
300.times { jobs << 1 }
jobs.close
300.times { RubyVM.select(*results) }
workers.each(&:join)
