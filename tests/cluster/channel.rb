# Needs redis-server and nats-server.
# Channels through a server (docs/cluster.md): the same program over both kinds.
require "tmpdir"
require_relative "support/servers"

# How many messages are not done: what is told of them arrives in a while.
def settled(channel)
  250.times { channel.empty? ? break : sleep(0.02) }
  channel.size
end

Point = Struct.new(:x, :y)

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    server = Servers.start(kind, dir)
    begin
      open = ->(name, *rest, **options) { RubyVM::Channel.open(server.url(name), *rest, **options) }
      puts "== #{kind}"

      c = open["plain"]
      c << 1 << [2, "three", nil] << { a: 1..3, "b" => Point.new(1, 2.5) }
      p c.size, c.recv, c.recv, c.recv, c.recv(timeout: 0.05), c.try_recv, settled(c)
      p tried { c << Mutex.new }
      p tried { c << [1, { deep: Mutex.new }] }
      add = 5
      c << ->(n) { n + add }
      p c.recv.call(1)
      puts c.inspect.sub(server.port.to_s, "PORT")

      # select, with channels of this process among them.
      local = RubyVM::Channel.new
      Thread.new { sleep 0.05; local << :local }
      p RubyVM.select(c, local, timeout: 5)&.last
      Thread.new { sleep 0.05; c << :remote }
      found, message = RubyVM.select(local, c, timeout: 5)
      p found.equal?(c), message, RubyVM.select(local, c, timeout: 0.05)

      # In another VM the handle is opened anew; each message has one receiver.
      results = RubyVM::Channel.new
      vms = Array.new(2) { RubyVM.fork(c, results) { |jobs, out| jobs.each { |n| out << n * n } } }
      (1..50).each { |n| c << n }
      p Array.new(50) { results.recv }.sum
      c.close
      p vms.each(&:join).size, c.closed?, tried { c << 1 }, c.recv, settled(c)

      # Bounds.
      b = open["bounded", 2]
      p b.try_send(1), b.try_send(2), b.try_send(3), b.send(3, timeout: 0.05)
      waiting = Thread.new { b.send(:late); :sent }
      p [b.recv, b.recv]
      p waiting.value, b.recv

      # Done, given back, never done.
      a = open["acknowledged", ack: :manual, ack_wait: 0.5]
      a << :first
      p a.recv, a.attempt, a.reject, a.recv(timeout: 5), a.attempt, a.ack, settled(a)
      a << :second
      there = RubyVM::Channel.new
      vm = RubyVM.fork(a, there) { |jobs, out| out << jobs.recv; sleep }
      p there.recv
      vm.kill(grace: 0)
      p a.recv(timeout: 10), a.attempt > 1, a.ack, settled(a)
      p (a.each { raise "broken" } rescue $!.message) if a.send(:third)
      p a.recv(timeout: 5), a.ack
      r = open["receipt", ack: :receipt]
      r << 1
      p r.recv
      sleep 0.02 until r.empty?

      # The same message twice.
      d = open["once", deduplicate: 60]
      d.send(1, id: "a").send(1, id: "a").send(2, id: "b")
      p d.size

      # Without waiting for each answer.
      w = open["window", window: 100]
      300.times { |n| w << n }
      w.flush
      p w.size, Array.new(300) { w.recv } == (0...300).to_a

      # What can't be opened is told once, and set aside.
      m = open["foreign", form: :bytes]
      m << "nonsense" << Marshal.dump([:of, 1]) << "zk1p" + Marshal.dump(1)
      n = open["foreign"]
      p tried { n.recv(timeout: 5) }.first, tried { n.recv(timeout: 5) }.first, n.recv(timeout: 5), n.stat.slice(:received, :set_aside)
      n.disconnect
      l = open["marshal", form: :marshal]
      l << [1, :two]
      p Marshal.load(open["marshal", form: :bytes].recv)

      # Signed.
      s = open["signed", key: "secret key"]
      s << 1
      p s.recv
      t = open["signed"]
      t << 2
      p tried { s.recv(timeout: 5) }.first

      # A kill ends what waits for a server at once.
      vm = RubyVM.fork(open["silent"]) { |ch| ch.recv }
      sleep 0.2
      vm.kill(grace: 0)
      p vm.join(5) ? :ended : :hangs rescue p $!.class

      # What a client keeps counts for its VM.
      vm = RubyVM.fork(open["large"], memory_limit: 60_000_000) { |ch| kept = []; loop { ch << "x" * 1_000_000; kept << ch.recv } }
      p tried { vm.value }[1][/memory limit of \d+ bytes exceeded/]

      # A server that is away.
      x = open["away", timeout: 0.3]
      server.stop
      p tried { x << 1 }.then { |c, text| [c, text[/no answer from \w+:\/\/127.0.0.1:PORT in 0.3 s/]] }
      p tried { RubyVM::Channel.open(server.url("none"), timeout: 0.3) }.first
      server.run
      p tried { open["away", timeout: 10] << 2; :again }
    ensure
      server.stop
    end
  end
end

# Bad addresses.
["http://host/x", "redis://", "redis://host", "redis://host:99999/x", "nats://host/a b", "redis://u:geheim@host:1/x?y=1", "nats://127.0.0.1:1/a..b"].each { |url| p tried { RubyVM::Channel.open(url) } }
p tried { RubyVM::Channel.open("redis://h/x", ack: :never) }, tried { RubyVM::Channel.open("redis://h/x", 0) }, tried { RubyVM::Channel.open("redis://h/x", colour: 1) }
