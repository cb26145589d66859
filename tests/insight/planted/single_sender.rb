# Workers that could do more are fed by one VM that does much for each job.
require_relative "work"
jobs = RubyVM::Channel.new(name: "pipe")
workers = 4.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |jobs| jobs.each { work(0.3) } } }
pipe = RubyVM.fork(jobs, name: "pipe") do |jobs|
  300.times { |i| work(6); jobs << i }
  jobs.close
end
[pipe, *workers].each(&:join)
