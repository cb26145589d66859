# Needs redis-server and nats-server.
# What becomes of messages that are under way (`window:`) at a full channel when it is closed, and when its handle ends (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    begin
      open = ->(name, *rest, **options) { RubyVM::Channel.open(server.url(name), *rest, **options) }
      # What is received in the end, by somebody else.
      rest = ->(name) { open[name].each.to_a.sort }

      waits = ->(sender) { sleep 0.01 until sender.backtrace&.first&.include?("ConditionVariable#wait") }

      puts "-- closed by who sends"
      c = open["alone", 3, window: 10]
      6.times { c << it }
      p tried { c.close }, c.closed?, tried { c.flush }, tried { c << 6 }, tried { c.close }&.equal?(c), tried { c.disconnect }.equal?(c), rest["alone"]

      puts "-- while a thread waits for room"
      { "same" => true, "other" => false }.each do |name, same|
        c = open[name, 5, window: 10]
        closer = same ? c : open[name, 5]
        sent = 0
        sender = Thread.new { tried { 20.times { |n| c << n; sent += 1 } } }
        sleep 0.01 until sent == 15
        waits[sender]
        p tried { closer.close }.equal?(closer), sender.value, tried { c.flush }, rest[name]
      end

      puts "-- while a thread flushes"
      c = open["flush", 2, window: 10]
      3.times { c << it }
      sender = Thread.new { tried { c.flush } }
      waits[sender]
      p tried { c.close }.equal?(c), sender.value, tried { c.flush }.first, rest["flush"]

      puts "-- there is room"
      c = open["room", window: 10]
      100.times { c << it }
      p tried { c.close }.equal?(c), tried { c.flush }.equal?(c), tried { c << 1 }, rest["room"].size
      c = open["late", 2, window: 10]
      6.times { c << it }
      receiver = Thread.new { d = open["late"]; Array.new(6) { d.recv }.sort.tap { d.disconnect } }
      p tried { c.flush }.equal?(c), receiver.value, tried { c.close }.equal?(c)

      puts "-- the handle ends"
      c = open["ends", 3, window: 10, timeout: 0.3]
      5.times { c << it }
      p tried { c.disconnect }, tried { c.disconnect }.equal?(c), tried { c << 1 }, open["ends"].size
      c = open["deleted", 3, window: 10]
      5.times { c << it }
      p tried { c.delete }.equal?(c), open["deleted"].size
    ensure
      server.stop
    end
  end
end
