# The main VM makes little things; the one VM that takes them computes long for each.
require_relative "work"
jobs = RubyVM::Channel.new(2, name: "jobs")
sink = RubyVM.fork(jobs, name: "sink") { |c| c.each { work(12) } }
120.times { work(1); jobs << 1 }
jobs.close
sink.join
