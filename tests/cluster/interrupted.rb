# Needs redis-server and nats-server.
# Receivers that are interrupted at any moment: no message comes twice, none stays with nobody. Senders that are: what their `send` said was sent comes, once, and nothing is waited for that nobody sends.
require "tmpdir"
require_relative "support/servers"

Thread.report_on_exception = false
class Boo < StandardError; end
COUNT = 3_000

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
      by = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 20
      rounds = 0
      # (What arrived right before the interrupt is lost between `recv` and the variable.)
      while (rounds += 1) % 20 != 0 || sender.alive? || to.size > 0
        break if Process.clock_gettime(Process::CLOCK_MONOTONIC) > by
        receiver = Thread.new do
          while true
            message = from.recv
            found << message
          end
        end
        sleep(random.rand * 0.001)
        receiver.raise(Boo)
        begin
          receiver.value
        rescue Boo
          nil
        end
      end
      sender.join
      p found.uniq.size == found.size, found.size > COUNT / 2, to.size

      # With little room, and with enough.
      [20, nil].each do |bound|
        to = RubyVM::Channel.open(server.url("window#{bound}"), bound, window: 50)
        from = RubyVM::Channel.open(server.url("window#{bound}"))
        found, sent, number = [], [], 0
        receiver = Thread.new do
          while (message = from.recv) != :end
            found << message
          end
        end
        150.times do
          senders = Array.new(2) do
            Thread.new do
              while true
                one = (number += 1)
                to << one
                sent << one
              end
            end
          end
          sleep(random.rand * 0.003)
          senders[0].raise(Boo)
          senders[1].kill.join
          begin
            senders[0].value
          rescue Boo
            nil
          end
        end
        p to.flush.equal?(to)
        to << :end
        receiver.join(20)
        p found.uniq.size == found.size, (sent - found).size, sent.size > 300
        to.disconnect
      end
    ensure
      server.stop
    end
  end
end
