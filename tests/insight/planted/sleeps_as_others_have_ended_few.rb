# Workers end when there are no more jobs; the one that took the last job sleeps on, for most of the run.
code = "jobs, = RubyVM::ARGV; require_relative 'planted/work'; jobs.each { |size| size < 0 ? sleep(1) : work(size) }"
jobs = RubyVM::Channel.new(name: "jobs")
workers = 3.times.map { |i| RubyVM.new("worker#{i}", "-e", code).start(jobs) }
60.times { jobs << 30 }
jobs << -1
jobs.close
workers.each(&:join)
