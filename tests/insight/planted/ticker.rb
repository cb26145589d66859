# Workers whose jobs come from one that sleeps in between.
require_relative "work"
jobs = RubyVM::Channel.new(name: "jobs")
RubyVM.fork(jobs, name: "ticker") { |out| 60.times { |i| sleep 0.01; out << i }; out.close }
workers = 4.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |c| c.each { work(1) } } }
workers.each(&:join)
