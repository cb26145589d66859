# Needs redis-server and nats-server.
# A Redis server that reads its data says LOADING to all that is asked: it is waited for, as one that is away (docs/cluster.md). And what no handle is made of.
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  server = Servers.start("redis", dir, keep: true)
  begin
    url = server.url("jobs")
    channel = RubyVM::Channel.open(url, timeout: 30)
    channel << 1
    fill = "for i = 1, 500000 do redis.call('SET', 'key' .. i .. ':' .. ARGV[1], i) end"
    2.times { |n| channel.__queue.connection.run_command("EVAL", fill, 0, n, timeout: 60) }
    waiting = Thread.new { [channel.recv(timeout: 60), channel.recv(timeout: 60)] }
    worker = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "1", out: File::NULL)
    RubyVM::Pool.open(connect: server.url("pool")) do |pool|
      jobs = pool.stream(1..300) { |n| sleep 0.005; n }
      p jobs.next
      server.stop
      server.run
      loading = TCPSocket.open("127.0.0.1", server.port) { |s| s.write("GET key1\r\n"); s.gets }
      puts loading.start_with?("-LOADING") ? "loading" : "loaded at once: #{loading}"
      # Of all of them, and of who comes meanwhile.
      RubyVM::Channel.open(url, timeout: 30) << 2
      p waiting.value, tried { Marshal.dump(channel) }.first
      p 299.times.map { jobs.next } == (2..300).to_a
    end
  ensure
    Process.kill(:KILL, worker)
    Process.wait(worker)
    server.stop
  end
end
%w[redis nats].each do |kind|
  p tried { RubyVM::Channel.open("#{kind}://127.0.0.1:1/x", key: "") }, tried { RubyVM::Pool.new(connect: "#{kind}://127.0.0.1:1/x", key: "") }
end
p tried { RubyVM::Channel.open("rediss://127.0.0.1:1/x", ca_file: "/nope.pem") }
