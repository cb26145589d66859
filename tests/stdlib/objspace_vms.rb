# Sizes of what exists only here, or is measured otherwise: channels with their messages, fibers and threads with their stacks.
require "objspace"

def size(object) = ObjectSpace.memsize_of(object)
def deep(n, &last) = n == 0 ? last.call : deep(n - 1, &last)
fibers = [0, 60].map { |n| Fiber.new { deep(n) { Fiber.yield } }.tap(&:resume) }
p size(fibers[1]) > size(fibers[0]) + 1_000
go = Queue.new
threads = [0, 60].map { |n| Thread.new { deep(n) { go.pop } } }
Thread.pass until threads.all? { |thread| thread.status == "sleep" }
p size(threads[1]) > size(threads[0]) + 1_000
2.times { go << 1 }
threads.each(&:join)
channel = RubyVM::Channel.new
empty = size(channel)
100.times { channel << "x" * 1_000 }
p size(channel) > empty + 100_000
100.times { channel.recv }
p size(channel) < empty + 10_000
