# Needs nats-server.
# A NATS server that is killed may hold messages again that it had removed: they don't count, and don't keep a channel open that is closed and empty (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  server = Servers.start("nats", dir) or raise "no nats-server"
  # What its consumer had written by then is the server's matter, and not much on busy cores.
  known = 5.times.any? do |round|
    channel = RubyVM::Channel.open(server.url("killed#{round}"), ack_wait: 3)
    300.times { channel << it }
    280.times { channel.recv }
    # What is done is told by the way; the last one is held until the next is asked for.
    sleep 0.1 until channel.size <= 21
    sleep 2
    server.stop
    server.run
    counted = channel.size
    rest = []
    # What was fetched ahead may have to be waited for until `ack_wait:`.
    rest << channel.recv(timeout: 40) until (280..299).all? { rest.include?(it) }
    channel.close
    channel.each { rest << it }
    raise "not sent: #{rest - (0..299).to_a}" unless (rest.compact - (0..299).to_a).empty?
    counted.between?(20, 40)
  end
  p known
ensure
  server&.stop
end
