# Needs redis-server and nats-server.
# Jobs of a pool whose arguments, values and blocks a NATS server does not take as one message (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

LIMIT = 1 << 20

# Parts of a channel that the server has; once there are so many (it hears of what is done in a while).
def parts(channel, wanted = 0)
  stream = channel.__queue.__send__(:parts_of, channel.__queue.instance_variable_get(:@stream))
  found = nil
  500.times do
    found = begin
      channel.__queue.connection.api("STREAM.INFO.#{stream}")["state"]["messages"]
    rescue RubyVM::Cluster::Refused
      :no_stream
    end
    found == wanted ? break : sleep(0.02)
  end
  found
end

def settled(channel)
  500.times { channel.empty? ? break : sleep(0.02) }
  channel.size
end

def kill(pid)
  Process.kill(:KILL, pid)
  Process.wait(pid)
end

Dir.mktmpdir do |dir|
  server = Servers.start("nats", dir)
  begin
    url = server.url("pool")
    workers = Array.new(2) { Process.spawn(RbConfig.ruby, "worker", "--connect", url, "--size", "2", "--ack-wait", "2", out: File::NULL) }
    large = "l" * 2_000_000
    RubyVM::Pool.open(connect: url) do |pool|
      p pool.map([1, 2_000_000, 600_000, 600_000, 3]) { |n| "r" * n }.map(&:size)
      p pool.map(["a" * 5_000_000, "b", "c" * LIMIT] * 3) { |text| text.size }
      p pool.map(1..3) { |n| large.size + n }, pool.submit(large) { |text| text + large }.value.size
      # All workers but one are killed while they have large jobs.
      jobs = pool.stream(Array.new(12) { |i| "#{i}:#{large}" }) { |text| sleep 0.05; text }
      first = jobs.next
      kill(workers.shift)
      p first.size, 11.times.map { jobs.next.to_i }
    end
    RubyVM::Pool.open(connect: url) { |pool| p pool.map(1..3) { |n| n }, 2 }
    # A job whose parts the server has lost is sent again.
    large = "p" * 3_000_000
    look = RubyVM::Channel.open(server.url("look")).__queue.connection
    RubyVM::Pool.open(connect: server.url("later")) do |pool|
      future = pool.submit(large) { |text| text.size }
      streams = -> { look.api("STREAM.LIST")["streams"].to_h { |stream| [stream["config"]["name"], stream["state"]["messages"]] }.select { |name, _| name.include?("later_jobs") } }
      500.times { streams.call.values.count(&:positive?) == 2 ? break : sleep(0.02) }
      look.api("STREAM.PURGE.#{streams.call.keys.find { |name| name.start_with?("zakuro-parts") }}")
      workers << Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("later"), "--size", "1", out: File::NULL)
      p future.value, streams.call.keys.grep(/_dead/)
    end
    jobs = RubyVM::Channel.open(server.url("pool.jobs"))
    p settled(jobs), parts(jobs)
    # Nothing is left of results, nor of blocks.
    connection = jobs.__queue.connection
    p connection.api("STREAM.LIST")["streams"].map { |stream| stream["config"]["name"] }.grep(/results/), connection.api("STREAM.INFO.zakuro-parts")["state"]["messages"]
  ensure
    workers&.each { |pid| kill(pid) }
    server.stop
  end
end
