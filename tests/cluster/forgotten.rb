# Needs redis-server and nats-server.
# Handles that nobody has any more, although messages were received through them: their connections and threads end (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

def open_descriptors = Dir.children("/proc/self/fd").size

def received(url)
  channel = RubyVM::Channel.open(url)
  channel << 1
  channel.recv
  channel.ack
end

Dir.mktmpdir do |dir|
  servers = %w[redis nats].map { |kind| Servers.start(kind, dir) }
  begin
    before = open_descriptors
    servers.each { |server| 10.times { |i| p server.kind unless received(server.url("c#{i}")) } }
    p open_descriptors - before >= 20
    # A thread that fetches rests when nobody has asked for a while.
    by = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
    until open_descriptors == before && Thread.list.size == 1
      break if Process.clock_gettime(Process::CLOCK_MONOTONIC) > by
      sleep 1
      GC.start
    end
    p open_descriptors - before, Thread.list.size
  ensure
    servers.each(&:stop)
  end
end
