# Needs redis-server and nats-server.
# What is fetched ahead and not begun is not tried so often that it is set aside (docs/cluster.md, `tries:`).
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  told = %w[redis nats].map do |kind|
    Thread.new do
      server = Servers.start(kind, dir)
      begin
        lines = ["== #{kind}"]
        # A receiver that takes long for each.
        slow = RubyVM::Channel.open(server.url("slow"), tries: 2)
        6.times { |n| slow << n }
        got = []
        while (message = slow.recv(timeout: 3))
          got << [message, slow.attempt]
          sleep 1.2
        end
        lines << got.inspect << slow.stat[:set_aside].inspect
        # Many that take one each.
        many = RubyVM::Channel.open(server.url("many"), ack: :receipt)
        20.times { |n| many << n }
        vms = Array.new(20) { RubyVM.fork(many) { |c| [c.recv(timeout: 20), c.stat[:set_aside]] } }
        lines << vms.map(&:value).transpose.then { |values, aside| [values.sort == [*0..19], aside.sum] }.inspect
        # One that is quick gets many at a time.
        quick = RubyVM::Channel.open(server.url("quick"), window: 100)
        500.times { |n| quick << n }
        quick.flush
        lines << Array.new(500) { quick.recv(timeout: 20) }.sum.inspect << quick.attempt.inspect
        lines
      ensure
        server.stop
      end
    end
  end
  puts told.map { |thread| thread.tap(&:join).value }
end
