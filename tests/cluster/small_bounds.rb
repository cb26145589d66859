# Needs redis-server and nats-server.
# What was received and is done makes room at once in a channel that holds few: for who sends and receives in one thread, through one handle or two.
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    begin
      [2, 3, 10, 40].each do |bound|
        one = RubyVM::Channel.open(server.url("one-#{bound}"), bound)
        from, to = RubyVM::Channel.open(server.url("two-#{bound}"), bound), RubyVM::Channel.open(server.url("two-#{bound}"))
        # The last one that was received is not done.
        p [[one, one], [from, to]].map { |sender, receiver|
          [50.times.count { |i| sender.try_send(i) && receiver.recv == i }, sender.size, receiver.size]
        }
      end
      # Without a bound, of many the last ones as well.
      many = RubyVM::Channel.open(server.url("many"))
      100.times { |i| many << i }
      p 100.times.all? { |i| many.recv == i }, many.size
    ensure
      server.stop
    end
  end
end
