# The next job goes through a server when the answer to the last one has come. ARGV: the server.
require_relative "work"
jobs, answers = %w[jobs answers].map { |name| RubyVM::Channel.open("#{ARGV[0]}/few.#{name}") }
workers = 4.times.map { |i| RubyVM.fork(jobs, answers, name: "worker#{i}") { |jobs, answers| jobs.each { answers << work(6) } } }
600.times do
  jobs << 1
  answers.recv
end
jobs.close
workers.each(&:join)
