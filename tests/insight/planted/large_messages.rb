# Each job carries far more than its worker looks at.
jobs = RubyVM::Channel.new(4, name: "jobs")
workers = 2.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |jobs| jobs.each { |page| page.first[:text].size } } }
page = 20_000.times.map { |i| { id: i, text: "word #{i}", at: [i, i + 1] } }
40.times { jobs << page }
jobs.close
workers.each(&:join)
