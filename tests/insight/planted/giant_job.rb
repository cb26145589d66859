# Small jobs, then one that takes longer than all others together.
require_relative "work"
jobs = RubyVM::Channel.new(name: "jobs")
workers = 4.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |jobs| jobs.each { |size| work(size) } } }
200.times { jobs << 4 }
jobs << 1500
jobs.close
workers.each(&:join)
