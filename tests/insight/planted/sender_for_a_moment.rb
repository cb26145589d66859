# One sends a few jobs that it computes for, and ends; those who take them wait on, and the main VM sleeps.
require_relative "work"
jobs = RubyVM::Channel.new(name: "jobs")
workers = 3.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |jobs| jobs.each { work(0.3) } } }
RubyVM.fork(jobs, name: "source") { |jobs| 5.times { work(4); jobs << 1 } }.join
sleep 1
jobs.close
workers.each(&:join)
