# Needs redis-server and nats-server.
# What a server does not take is an error of whoever sends it, and of nobody else (docs/cluster.md). NATS takes it in parts, unless it is told not to: of these parts.rb asks more.
require "tmpdir"
require_relative "support/servers"

def tried
  yield
rescue Exception => e
  [e.class, e.message.gsub(/:\d{4,5}\b/, ":PORT").gsub(/\b(\d\d)\d{5}\b/, '\1.....')]
end

BIG = "x" * 1_500_000

Dir.mktmpdir do |dir|
  app = File.join(dir, "app.rb")
  File.write(app, "def big(n) = \"x\" * n\n")
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    # NATS takes 1 MB; Redis 512 MB unless it is told otherwise.
    server = Servers.start(kind, dir, limit: "1mb")
    begin
      c = RubyVM::Channel.open(server.url("plain"), parts: false)
      p tried { c << BIG }, tried { c.try_send(BIG) }, (c << "small").recv, c.stat[:connects]
      c.send(BIG) rescue p [$!.size > 1_500_000, $!.limit]
      w = RubyVM::Channel.open(server.url("window"), window: 10, parts: false)
      w << 1 << 2
      p tried { w << BIG }
      20.times { |n| w << n }
      p w.flush.size, w.recv, w.stat[:sent]
      s = RubyVM::Channel.open(server.url("signed"), key: "a key", form: :envelope, parts: false)
      p tried { s << BIG }.first, s.send("x" * 900_000).recv.size
      # Not known before there is a connection, and another server may take less.
      f = RubyVM.fork(c) { |c| (c << BIG) rescue $!.class.name }
      p f.value

      workers = Array.new(2) { Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "2", "--ack-wait", "1", app, out: File::NULL, err: File::NULL) }
      pool = RubyVM::Pool.new(connect: server.url("pool"), key: nil)
      told = ->(list) { list.map { |v| RubyVM::Pool::JobError === v ? [v.index, v.kind, v.message[/can't be sent.*takes at most/]&.gsub(/\d+ bytes; \S+/, "N bytes; SERVER")] : String === v ? v.size : v } }
      puts "-- results"
      p told[pool.map(1..6, errors: :return) { |n| n == 3 ? big(1_500_000) : n }]
      p told[pool.map([10, 600_000, 600_000, 600_000, 20], errors: :return) { |n| big(n) }]
      p told[pool.map([1], errors: :return) { raise big(1_500_000) }].then { |((index, kind))| [index, kind] }
      puts "-- arguments"
      p told[pool.map([1, BIG, 3, "y" * 700_000, "y" * 700_000, 6], errors: :return) { |x| x }]
      f = pool.submit(BIG) { |x| x.size }
      f.wait
      p told[[f.error]], pool.submit("z" * 500_000) { |x| x.size }.value
      puts "-- program text"
      large = BIG
      p tried { pool.map([1]) { |n| large.size } }
      f = pool.submit { large.size }
      f.wait
      p told[[f.error]]
      p Array(tried { RubyVM::Pool.new(connect: server.url("setup")) { large.size }.shutdown; :set_up }).first
      puts "-- afterwards"
      p pool.map(1..50) { |n| n }.sum, pool.report.machines.count { |m| !m[:ended] }, workers.all? { |pid| Process.wait(pid, Process::WNOHANG).nil? }
      # What is no chunk of jobs ends no worker either.
      jobs = RubyVM::Channel.open(server.url("pool.jobs"))
      [nil, 1, [], [1, 2, 3, 4, 5], ["a", 1, {}, nil, []], { a: 1 }].each { |nonsense| jobs << nonsense }
      p pool.map(1..50) { |n| n }.sum, workers.all? { |pid| Process.wait(pid, Process::WNOHANG).nil? }
      pool.close
    ensure
      workers&.each { |pid| Process.kill(:KILL, pid); Process.wait(pid) rescue nil }
      server.stop
    end
  end
end
