# Workers end when there are no more jobs; the one that took the last job sleeps on, for most of the run.
WORKERS, JOBS = 6, 100 unless defined?(WORKERS)
code = "jobs, = RubyVM::ARGV; require_relative 'planted/work'; jobs.each { |size| size < 0 ? sleep(1) : work(size) }"
jobs = RubyVM::Channel.new(name: "jobs")
workers = WORKERS.times.map { |i| RubyVM.new("worker#{i}", "-e", code).start(jobs) }
JOBS.times { jobs << 30 }
jobs << -1
jobs.close
workers.each(&:join)
