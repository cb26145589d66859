# Much is kept, and each job asks for a collection.
jobs = RubyVM::Channel.new(name: "jobs")
workers = 2.times.map do |i|
  RubyVM.fork(jobs, name: "worker#{i}") do |jobs|
    kept = 100_000.times.map { |n| [n, n.to_s] }
    jobs.each { |n| kept[n] = n.to_s * 3; GC.start }
  end
end
40.times { |n| jobs << n }
jobs.close
workers.each(&:join)
