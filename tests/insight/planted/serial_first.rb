# The main VM computes for long, before others begin.
require_relative "work"
work(250)
4.times.map { |i| RubyVM.fork(name: "worker#{i}") { work(80) } }.each(&:join)
