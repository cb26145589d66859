# Workers whose jobs come from one that reads what another process writes, now and then.
require_relative "work"
jobs = RubyVM::Channel.new(name: "jobs")
RubyVM.fork(jobs, name: "reader") do |out|
  IO.popen([RbConfig.ruby, "-e", "$stdout.sync = true; 40.times { |i| sleep 0.01; puts i }"]) { |io| io.each_line { |line| out << line } }
  out.close
end
workers = 4.times.map { |i| RubyVM.fork(jobs, name: "worker#{i}") { |c| c.each { work(1) } } }
workers.each(&:join)
