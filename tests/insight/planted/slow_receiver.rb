# Four VMs compute and hand on what they have; one collects it all, slower than they make it.
require_relative "work"
jobs, results = RubyVM::Channel.new(name: "jobs"), RubyVM::Channel.new(2, name: "results")
sink = RubyVM.fork(results, name: "sink") { |c| c.each { work(12) } }
workers = 4.times.map { |i| RubyVM.fork(jobs, results, name: "worker#{i}") { |c, out| c.each { |n| work(n); out << n } } }
150.times { jobs << 3 }
jobs.close
workers.each(&:join)
results.close
sink.join
