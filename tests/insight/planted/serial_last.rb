# The main VM computes for long, after others have ended.
require_relative "work"
4.times.map { |i| RubyVM.fork(name: "worker#{i}") { work(80) } }.each(&:join)
work(250)
