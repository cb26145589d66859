# Blocks that a VM spawns into an image which lacks what the VM itself grew from: it takes copies along, nothing of its own image is left behind.
module Loud
  refine(String) { def loud = upcase + "!" }
end
using Loud
old = RubyVM::Image.capture
loud = proc { "abc".loud }
class Later
  Pair = Struct.new(:a)
  def initialize = @list = { "k" => [1, 2.5, :y, 1..3, 10**30, 3r] }
  attr_reader :list
end
$object = Later.new
def $object.single = "single"
$hash = { $object => 1 }
$frozen = [Later::Pair.new(5).freeze, ("abc" * 50).freeze].freeze
$match = /a(.)c/
$error = (raise "boo" rescue $!)
$identity = {}.compare_by_identity
$identity[$object] = 7
$time = Time.at(0).utc

RubyVM.fork do
  object, hash, frozen, match, error, identity, time = $object, $hash, $frozen, $match, $error, $identity, $time
  p old.spawn(&loud).value
  old.spawn do
    p object.list, object.single, hash[object], frozen[0].a, frozen[1].size, match.match("abc")[1], error.message, identity[object], time.year, object.class
    p((Later rescue $!.class))
    GC.start
    RubyVM.fork { p object.single, hash[object], frozen[0] }.join
  end.join
  p old.spawn(object) { |o| o.list.size }.value
end.join

# Its image is gone when they are used.
def later(tag, channel, old)
  RubyVM.fork do
    $data = Array.new(500) { |k| "string number #{k} of #{tag} which is long".freeze }.freeze
    RubyVM.fork do
      data = $data
      old.spawn(channel) { |c| c.recv; puts [data.size, data[7], data.sum(&:size)].inspect }
      nil
    end.join
  end.join
end
first, others = RubyVM::Channel.new, RubyVM::Channel.new(100)
later("first", first, old)
40.times { |i| later("other #{i}", others, old) }
first << 1
sleep 0.1
