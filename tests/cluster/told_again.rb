# Needs redis-server and nats-server.
# A server that ends and starts again with what it had, while messages are received: it hears of all that is done, without waiting for `ack_wait:`, and nothing comes twice.
require "tmpdir"
require_relative "support/servers"

COUNT = 1_500

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir, keep: true)
    begin
      to = RubyVM::Channel.open(server.url("work"), deduplicate: 60)
      handles = Array.new(2) { RubyVM::Channel.open(server.url("work")) }
      found = Thread::Queue.new
      receivers = handles.map { |handle| Thread.new { handle.each { |message| found << message; sleep 0.001 } } }
      sender = Thread.new do
        COUNT.times do |i|
          to.send(i, id: "m#{i}")
        rescue RubyVM::Cluster::Error
          retry
        end
      end
      3.times do
        sleep 0.3
        # (NATS forgets what it has said when it is killed.)
        server.stop(kind == "nats" ? :TERM : :KILL)
        sleep 0.2
        server.run
      end
      sender.join
      since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      sleep 0.05 until to.size == 0
      # (It would be 30 s.)
      p Process.clock_gettime(Process::CLOCK_MONOTONIC) - since < 20
      to.close
      p receivers.map { |receiver| !receiver.join(10).nil? }
      all = Array.new(found.size) { found.pop }
      p all.size, all.uniq.size
    ensure
      server.stop
    end
  end

  puts "== disconnect beside threads that wait"
  server = Servers.start("redis", dir)
  begin
    channel = RubyVM::Channel.open(server.url("full"), 1)
    channel << 1
    sender = Thread.new { tried { channel << 2 } }
    sleep 0.3
    channel.disconnect
    p sender.value
    channel = RubyVM::Channel.open(server.url("empty"))
    receivers = [Thread.new { tried { channel.recv } }, Thread.new { tried { channel.each { nil }.equal?(channel) } }]
    sleep 0.3
    channel.disconnect
    p receivers.map(&:value)
  ensure
    server.stop
  end
end
