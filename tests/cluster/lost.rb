# Needs redis-server and nats-server.
# A server that starts again with nothing of what it had: channels and pools go on (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    workers = []
    start = -> { workers << Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "2", out: File::NULL, err: File::NULL) }
    begin
      open = ->(name, *rest, **options) { RubyVM::Channel.open(server.url(name), *rest, timeout: 20, **options) }
      names = %w[waits sent window large held size closed close]
      options = { "window" => { window: 10 }, "held" => { ack: :manual } }
      handles = names.to_h { |name| [name, open[name, **options[name]]] }
      others = names.to_h { |name| [name, open[name, ack: name == "held" ? :manual : :next]] }
      handles.each_value { |c| c << :before << :too }
      handles["window"].flush
      large = "x" * 3_000_000
      handles["large"] << large
      p handles["held"].recv
      received = []
      waiting = Thread.new { 3.times { received << handles["waits"].recv } }
      sleep 0.02 until received.size == 2
      server.forget

      puts "-- channels"
      others["waits"] << :after
      waiting.join
      p received
      handles["sent"] << 1
      p others["sent"].recv(timeout: 20)
      30.times { handles["window"] << it }
      p handles["window"].flush.equal?(handles["window"]), Array.new(30) { others["window"].recv(timeout: 20) } == [*0...30]
      handles["large"] << large
      p others["large"].recv(timeout: 20) == large
      p handles["size"].size, handles["closed"].closed?, handles["close"].close.equal?(handles["close"]), others["close"].recv, tried { others["close"] << 1 }

      puts "-- what is said of a message that was lost does not concern another one"
      others["held"] << 1 << 2 << 3
      p Array.new(3) { others["held"].recv(timeout: 20) }
      p handles["held"].ack
      # They come again.
      others["held"].disconnect
      # What had been fetched before may still come.
      received = []
      received << handles["held"].recv(timeout: 20).tap { handles["held"].ack } until (received.any? && received.last.nil?) || (received & [1, 2, 3]).size == 3
      p received & [1, 2, 3]

      puts "-- a pool"
      start.()
      begun = File.join(dir, "begun-#{kind}")
      going = File.join(dir, "going-#{kind}")
      two = 2
      pool = RubyVM::Pool.new(connect: server.url("pool"), name: "p") { $ready = 1 }
      p pool.map(1..3) { |n| n * two * $ready }
      wait = lambda do
        File.write(begun, "")
        sleep 0.01 until File.exist?(going)
      end
      map = Thread.new do
        pool.map(1..40) do |n|
          wait.call
          n * two
        end
      end
      submitted = Array.new(20) do |n|
        pool.submit(n) do |m|
          wait.call
          m + two
        end
      end
      sleep 0.01 until File.exist?(begun)
      server.forget
      # The one that has the block goes with the server's copy.
      Process.kill(:KILL, workers.first)
      start.()
      File.write(going, "")
      p map.value == (1..40).map { |n| n * 2 }, submitted.map(&:value) == (2..21).to_a
      server.forget
      p pool.map(1..3) { |n| n + two }, tried { pool.close }&.class
    ensure
      workers.each { |pid| Process.kill(:KILL, pid) rescue nil; Process.wait(pid) rescue nil }
      server.stop
    end
  end
end
