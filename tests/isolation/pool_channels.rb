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
# Nor does whoever has the pool meet them by chance.
pool = RubyVM::Pool.new(size: 2)
p ObjectSpace.each_object(RubyVM::Channel).map(&:name).compact
p pool.map([1, 2]) { |n| n }
pool.close
