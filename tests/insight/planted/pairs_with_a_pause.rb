# Two VMs at a time, and a pause between the pairs, in which the program sleeps: they do not live one after the other.
require_relative "work"
start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
2.times.map { RubyVM.fork { work(1400) } }.each(&:join)
# As long as a pair takes, however busy the cores are.
sleep [0.5, Process.clock_gettime(Process::CLOCK_MONOTONIC) - start].max
2.times.map { RubyVM.fork { work(1400) } }.each(&:join)
