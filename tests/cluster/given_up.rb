# Needs redis-server and nats-server.
# Pools that are given up while their jobs run hold up no others and leave nothing on the server; handles that nobody has end their connections; many open a channel at once (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

def held = [Dir.children("/proc/self/fd").size, Thread.list.size]

# Says nothing.
silent = TCPServer.new("127.0.0.1", 0)

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    worker = nil
    begin
      puts "-- pools that are given up"
      worker = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "2", out: File::NULL, err: File::NULL)
      patient = RubyVM::Pool.new(connect: server.url("pool"))
      patient.map([1]) { it }
      longest = 0.0
      20.times do
        RubyVM::Pool.open(connect: server.url("pool")) { |pool| pool.stream(1..) { it }.first(2) }
        before = RubyVM::Cluster.now
        patient.submit { 1 }.value
        longest = [longest, RubyVM::Cluster.now - before].max
      end
      p longest < 3 || longest
      patient.close
      Process.kill(:TERM, worker)
      Process.wait(worker)
      worker = nil
      store = RubyVM::Cluster.const_get(kind == "redis" ? :RedisQueue : :NatsQueue).new(RubyVM::Cluster.const_get(:Address).new(server.url("pool")), bound: nil, ack_wait: 30, deduplicate: nil, timeout: 5)
      p store.channels("pool#{kind == "redis" ? "/" : "."}results.").size
      store.disconnect

      puts "-- handles that nobody has"
      before = held
      30.times { |i| RubyVM::Channel.open(server.url("dropped#{i % 3}")) << i }
      p held.zip(before).all? { |now, then_| now > then_ }
      100.times do
        GC.start
        break if held.zip(before).all? { |now, then_| now <= then_ + 3 }
        sleep 0.05
      end
      p held.zip(before).all? { |now, then_| now <= then_ + 3 } || [before, held]

      puts "-- room in time"
      full = RubyVM::Channel.open(server.url("full"), 2, window: 3)
      sent = 0
      sent += 1 while sent < 10 && full.send(sent, timeout: 0.3)&.equal?(full)
      p sent
      taker = Thread.new { c = RubyVM::Channel.open(server.url("full")); Array.new(sent + 20) { c.recv }.tap { c.disconnect } }
      20.times { full << it + 10 }
      p full.flush.equal?(full), taker.value.sort == [*0...sent, *10..29]

      puts "-- room, and nobody sends"
      waiting = RubyVM::Channel.open(server.url("later"), 3, window: 10)
      6.times { waiting << it }
      taker = RubyVM::Channel.open(server.url("later"), ack: :receipt)
      p Array.new(6) { taker.recv(timeout: 10) }.sort
      -> { RubyVM::Channel.open(server.url("later"), 3, window: 10).then { |c| 6.times { c << it } } }.call
      GC.start
      p Array.new(6) { taker.recv(timeout: 10) }.sort
      5.times { RubyVM.fork(server.url("ended")) { |url| RubyVM::Channel.open(url, window: 50).then { |c| 40.times { c << it } } && nil }.join }
      5.times { Process.wait(Process.fork { RubyVM::Channel.open(server.url("ended"), window: 50).then { |c| 40.times { c << it } } }) }
      p RubyVM::Channel.open(server.url("ended")).size

      puts "-- a fork within a block"
      forks = RubyVM::Channel.open(server.url("forks"))
      6.times { forks << it }
      forks.close
      received = []
      forks.each do |n|
        received << n
        # What the parent has received is nothing of the child's.
        (pid = fork) ? Process.wait(pid) : exit!((n.even? ? forks.ack : forks.reject) ? 1 : 0)
        received << $?.exitstatus
      end
      p received

      puts "-- what can't be sent"
      channel = RubyVM::Channel.open(server.url("kinds"))
      [[1, { a: $stdout }], [1, 2.method(:+)], [[RubyVM::Channel.new]], { "b" => [channel] }, [Mutex.new], $stdout].each { |object| p tried { channel << object } }
      channel.delete

      puts "-- servers that say nothing"
      p tried { RubyVM::Channel.open("#{{ "redis" => "rediss", "nats" => "nats" }[kind]}://127.0.0.1:#{silent.addr[1]}/x", timeout: 0.5) }

      puts "-- many at once"
      found = Hash.new(0)
      30.times do |k|
        threads = Array.new(6) { |i| Thread.new { tried { RubyVM::Channel.open(server.url("first#{k}"), 50).send(i).disconnect && :sent } } }
        threads.each { |thread| found[thread.value] += 1 }
      end
      p found
    ensure
      Process.kill(:KILL, worker) && Process.wait(worker) if worker
      server.stop
    end
  end
end
