# A few small jobs, and one that takes nearly the whole run.
require_relative "work"
jobs = RubyVM::Channel.new(name: "jobs")
workers = 4.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |c| c.each { |n| work(n) } } }
60.times { jobs << 0.5 }
jobs << 600
jobs.close
workers.each(&:join)
