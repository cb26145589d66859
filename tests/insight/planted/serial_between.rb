# Two VMs at a time, and between the pairs the main VM computes alone.
require_relative "work"
5.times do
  2.times.map { RubyVM.fork { work(100) } }.each(&:join)
  work(200)
end
