# Workers that could do more are fed through a server by one VM that does much for each job. ARGV: the server.
require_relative "work"
jobs = RubyVM::Channel.open("#{ARGV[0]}/pipe")
workers = 4.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |jobs| jobs.each { work(0.3) } } }
pipe = RubyVM.fork(jobs, name: "pipe") do |jobs|
  150.times { |i| work(10); jobs << i }
  jobs.close
end
[pipe, *workers].each(&:join)
