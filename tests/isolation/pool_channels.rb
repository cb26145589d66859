# A job finds none of the channels by which its pool and its VM talk: what it closes, empties or fills is its own.
require_relative "support/pool_channels"

[{}, { file: File.join(__dir__, "support", "pool_channels.rb") }].each do |options|
  pool = RubyVM::Pool.new(size: 2, grace: 0, **options)
  p pool.map(1..4, timeout: 20) { attack_all }
  p pool.map(1..100, timeout: 20) { |n| n * 2 }.sum
  # A channel that a job is given is there like any other.
  mine = RubyVM::Channel.new
  p pool.map([mine], timeout: 20) { |given| ObjectSpace.each_object(RubyVM::Channel).include?(given) }
  p pool.submit { raise "as ever" }.then { |f| f.wait; f.error.cause.message }, pool.report.restarts
  pool.close
end
# Those of a pool that stands in a constant are not there in the VMs that get the program as it is.
POOL = RubyVM::Pool.new(size: 1)
other = RubyVM::Pool.new(size: 1)
reach = -> { crew = POOL.instance_variable_get(:@crew) and [crew.events, *crew.members.flat_map { |m| [m.inbox, m.out, m.exceptions] }] }
p other.map([1], timeout: 20) { reach.call.each { |channel| attack(channel) }.map(&:closed?).uniq }
p RubyVM.fork { reach.call.map(&:closed?).uniq }.value, POOL.map([1, 2], timeout: 20) { |n| n }, other.map([1, 2]) { |n| n }
# Handed to a VM, they are there.
p RubyVM.fork(RubyVM::Channel.__hidden("given")) { |channel| channel << 1; channel.recv }.value
[POOL, other].each(&:close)
# Nor does whoever has the pool meet them by chance.
pool = RubyVM::Pool.new(size: 2)
p ObjectSpace.each_object(RubyVM::Channel).map(&:name).compact
p pool.map([1, 2]) { |n| n }
pool.close
