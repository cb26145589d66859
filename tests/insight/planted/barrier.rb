# Each round gives every worker one job over a channel of its own, and waits for all answers.
require_relative "work"
done = RubyVM::Channel.new(name: "done")
jobs = 4.times.map { |i| RubyVM::Channel.new(name: "jobs#{i}") }
workers = jobs.each_with_index.map { |jobs, i| RubyVM.fork(jobs, done, name: "worker#{i}") { |jobs, done| jobs.each { |n| work(n); done << n } } }
60.times { jobs.each_with_index { |c, i| c << (i == 0 ? 4 : 1) }; 4.times { done.recv } }
jobs.each(&:close)
workers.each(&:join)
