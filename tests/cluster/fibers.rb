# Needs redis-server and nats-server.
# Fibers of one thread that receive from one handle: each has its own message until it is done (docs/cluster.md).
require "tmpdir"
require "zakuro/fiber_scheduler"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    server = Servers.start(kind, dir)
    [nil, 3].each do |bound|
      channel = RubyVM::Channel.open(server.url("fibers#{bound}"), bound)
      got = []
      ended = 0
      Thread.new do
        Fiber.set_scheduler(RubyVM::FiberScheduler.new)
        Fiber.schedule { 30.times { |i| channel << i }; channel.close }
        3.times { Fiber.schedule { channel.each { |n| got << n; sleep 0.002 }; ended += 1 } }
      end.join
      p [kind, bound, got.sort == (0...30).to_a, ended]
    end
    # What a fiber leaves behind goes back.
    channel = RubyVM::Channel.open(server.url("left"), ack_wait: 2)
    channel << :message
    Thread.new do
      Fiber.set_scheduler(RubyVM::FiberScheduler.new)
      Fiber.schedule { p channel.recv }
      Fiber.schedule { p channel.recv(timeout: 10), channel.ack }
    end.join
  ensure
    server&.stop
  end
end
