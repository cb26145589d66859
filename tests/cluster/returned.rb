# Needs redis-server and nats-server.
# A message that is rejected comes back, as often as `tries:` says, and holds nothing else up (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    begin
      c = RubyVM::Channel.open(server.url("returned"), ack: :manual, tries: 40)
      c << :one
      attempts = []
      while attempts.size < 40 && c.recv(timeout: 20)
        attempts << c.attempt
        c.reject
      end
      p attempts == [*1..40]
      p c.recv(timeout: 0.5), c.stat[:set_aside]

      # What waits meanwhile is not held up.
      d = RubyVM::Channel.open(server.url("others"), ack: :manual)
      10.times { d << it }
      done = []
      until done.size == 10
        n = d.recv(timeout: 20) or break
        n.even? && d.attempt == 1 ? d.reject : d.ack && done << n
      end
      p done.sort
    ensure
      server.stop
    end
  end
end
