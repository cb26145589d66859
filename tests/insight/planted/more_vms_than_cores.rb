# Sixteen VMs that only compute.
require_relative "work"
16.times.map { |i| RubyVM.fork(name: "worker#{i}") { work(80) } }.each(&:value)
