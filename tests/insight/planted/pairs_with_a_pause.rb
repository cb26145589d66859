# Two VMs at a time, and a pause between the pairs, in which the program sleeps: they do not live one after the other.
require_relative "work"
2.times.map { RubyVM.fork { work(1400) } }.each(&:join)
sleep 0.5
2.times.map { RubyVM.fork { work(1400) } }.each(&:join)
