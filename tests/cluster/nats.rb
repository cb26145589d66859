# Needs redis-server and nats-server.
# NATS: several servers in one address, nkeys and credentials; and what a program that is gone leaves on either server (docs/cluster.md).
require "openssl"
require "tmpdir"
require_relative "support/servers"

# A key as `nk -gen user` writes it: [seed, public].
def key
  encode = ->(bytes) { RubyVM::Cluster.const_get(:Nkey).encode(bytes) }
  raw = Random.urandom(32)
  public = OpenSSL::PKey.new_raw_private_key("ED25519", raw).raw_public_key
  [encode["\x95\x00".b + raw], encode["\xA0".b + public]]
end

require "zakuro/cluster"
Dir.mktmpdir do |dir|
  seed, public = key
  p seed[0, 2], seed.size, public[0], public.size
  # From the documentation of NATS' tools.
  p RubyVM::Cluster.const_get(:Nkey).new("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY").public
  config = File.join(dir, "nkey.conf")
  File.write(config, "authorization: { users: [ { nkey: #{public} } ] }\n")
  server = Servers.start("nats", dir, config:)
  begin
    url = server.url("signed")
    c = RubyVM::Channel.open(url, nkey: seed)
    c << "let in"
    p c.recv, c.inspect.include?(seed), tried { Marshal.dump(c) }.first
    p RubyVM.fork(c) { |c| c << 2; c.recv }.value
    p tried { RubyVM::Channel.open(url, timeout: 1) }.first, tried { RubyVM::Channel.open(url, nkey: key[0], timeout: 1) }.first, tried { RubyVM::Channel.open(url, nkey: "SUnonsense") }
    p tried { RubyVM::Channel.open(url, credentials: "nothing") }
    p tried { RubyVM::Channel.open(url.sub("nats:", "redis:"), nkey: seed) }
  ensure
    server.stop
  end

  # The first of the servers is not there; later the second one goes, and comes again.
  server = Servers.start("nats", dir)
  begin
    url = "nats://127.0.0.1:1,127.0.0.1:#{server.port}/several"
    c = RubyVM::Channel.open(url)
    c << 1
    p c.recv, c.address.sub(server.port.to_s, "PORT")
    server.stop
    late = Thread.new { c << 2; c.recv }
    sleep 0.3
    server.run
    p late.value
    p tried { RubyVM::Channel.open("redis://a,b/x") }, tried { RubyVM::Channel.open("nats://a:1,b:c/x") }, tried { RubyVM::Channel.open("nats://a:1,/x") }
  ensure
    server.stop
  end

  %w[redis nats].each do |kind|
    server = Servers.start(kind, dir)
    workers = Array.new(2) { Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("left"), "--size", "1", "--caller-timeout", "2", out: File::NULL) }
    begin
      # Ends in the middle of its jobs, and takes no result any more.
      program = "pool = RubyVM::Pool.new(connect: #{server.url("left").dump}); pool.map([1]) { |n| n }; f = pool.submit { sleep 0.3; 1 }; sleep 0.1; Process.kill(:KILL, $$)"
      pid = Process.spawn(RbConfig.ruby, "-e", program)
      Process.wait(pid)
      store = RubyVM::Channel.open(server.url("left")).__queue
      left = -> { store.channels("left.results.").keys }
      gone = left.call
      p gone.size
      going = RubyVM::Pool.new(connect: server.url("left"))
      600.times { (left.call & gone).empty? ? break : sleep(0.05) }
      p (left.call & gone).size, going.map([1, 2]) { |n| n }, left.call.size, store.list("caller.").size
      going.close
      p left.call.size
    ensure
      workers.each { |pid| Process.kill(:KILL, pid); Process.wait(pid) }
      server.stop
    end
  end
end
