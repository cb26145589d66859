# Small jobs, then one that takes longer than all others together.
require_relative "work"
jobs = RubyVM::Channel.new(name: "jobs")
workers = 4.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |jobs| jobs.each { |size| work(size) } } }
100.times { jobs << 3 }
jobs << 600
jobs.close
workers.each(&:join)
