# Needs redis-server and nats-server.
# Receivers that are interrupted at any moment: each message comes once, none stays with nobody.
require "tmpdir"
require_relative "support/servers"

class Boo < StandardError; end
COUNT = 1_500

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    begin
      to = RubyVM::Channel.open(server.url("work"))
      from = RubyVM::Channel.open(server.url("work"), ack: :receipt)
      sender = Thread.new { COUNT.times { |i| to << i } }
      found = []
      random = Random.new(1)
      last = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      # (What arrived right before the interrupt may be lost between `recv` and the variable.)
      while found.size < COUNT - 3 && Process.clock_gettime(Process::CLOCK_MONOTONIC) - last < 8
        before = found.size
        receiver = Thread.new do
          Thread.current.report_on_exception = false
          while true
            message = from.recv
            found << message
          end
        end
        sleep(random.rand * 0.002)
        receiver.raise(Boo)
        begin
          receiver.value
        rescue Boo
          nil
        end
        last = Process.clock_gettime(Process::CLOCK_MONOTONIC) if found.size > before
      end
      sender.join
      while (message = from.recv(timeout: 0.2))
        found << message
      end
      p found.uniq.size == found.size, found.size > COUNT - 3, to.size
    ensure
      server.stop
    end
  end
end
