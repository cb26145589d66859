# The next job is sent when the answer to the last one has come.
require_relative "work"
jobs = RubyVM::Channel.new(name: "jobs")
answers = RubyVM::Channel.new(name: "answers")
workers = 4.times.map { |i| RubyVM.fork(jobs, answers, name: "worker#{i}") { |jobs, answers| jobs.each { answers << work(4) } } }
300.times do
  jobs << 1
  answers.recv
end
jobs.close
workers.each(&:join)
