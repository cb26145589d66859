# Needs redis-server and nats-server.
# What a NATS server does not take as one message goes in parts (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

LIMIT = 1 << 20
Record = Struct.new(:name, :list)

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
  open = ->(name, *rest, **options) { RubyVM::Channel.open(server.url(name), *rest, **options) }
  begin
    puts "-- around the limit"
    # (Where each object is a collection, decoding may take longer than the server waits for a sign of life.)
    c = open["plain", ack_wait: 600]
    # 14 bytes are around a String of this length: below, at, and above what goes as one.
    [LIMIT - 100, LIMIT - 15, LIMIT - 14, LIMIT - 13, LIMIT + 1, 2 * LIMIT, 20_000_000].each do |n|
      text = Random.new(n).bytes(n)
      c << text
      p [n, c.recv == text]
    end
    graph = Array.new(3_000) { |i| Record.new("name #{i} " * 40, [i, i.to_f, nil].freeze).freeze }.freeze
    c << graph << Array.new(10_000) { |i| "line #{i} " * 12 }
    p c.recv == graph, c.recv.last[0, 10], c.recv(timeout: 0.1), settled(c), parts(c), c.stat.values_at(:sent, :received, :redelivered, :set_aside)
    c << "small" << "s" * 3_000_000 << "small"
    p c.size, [c.recv, c.recv.size, c.recv, c.recv(timeout: 0.1)]
    s = open["signed", key: "a key", window: 10]
    s << 1 << "t" * 3_000_000 << 2
    p s.flush.size, [s.recv, s.recv.size, s.recv, s.recv(timeout: 0.1)], parts(s)
    s << "t" * 3_000_000
    other = open["signed", key: "another"]
    p tried { other.recv }.first, settled(s)

    puts "-- others"
    p tried { open["marshal", form: :marshal] << "x" * LIMIT }.first, tried { open["bytes", form: :bytes] << "x" * (LIMIT + 1) }.first, tried { open["plain", parts: false] << "x" * LIMIT }.first
    b = open["bytes", form: :bytes, parts: true]
    b << "y" * 5_000_000
    p open["bytes", form: :bytes, ack: :receipt].recv.size
    # Servers before 2.9 give parts another way.
    config = b.__queue.connection.api("STREAM.INFO.zakuro-parts_bytes")["config"]
    b.__queue.connection.api("STREAM.UPDATE.zakuro-parts_bytes", config.merge("allow_direct" => false))
    b << "z" * 3_000_000
    p open["bytes", form: :bytes, ack: :receipt].recv(timeout: 5)&.size
    # 512 MB is all.
    p tried { b.__queue.fits(Data.define(:bytesize).new(600 << 20)) }
    # What says that it is in parts and is not.
    c.__queue.connection.request("plain", "", "NATS/1.0\r\nZakuro-Parts: * 1 1\r\n\r\n")
    p c.send("next").recv, c.stat[:set_aside]

    puts "-- waiting, choosing, closing"
    local = RubyVM::Channel.new
    w = open["waits", 1]
    Thread.new { sleep 0.05; w << "w" * 2_000_000 }
    found, message = RubyVM.select(local, w, timeout: 5)
    p found.equal?(w), message.size, w.ack, w.try_recv
    p settled(w), w.try_send("w" * 2_000_000), w.try_send("w" * 2_000_000), w.send("w" * 2_000_000, timeout: 0.05), w.size, parts(w, 8)
    late = Thread.new { w.send("v" * 2_000_001); :sent }
    p [w.recv, w.recv].map(&:size), late.value
    w.close
    p tried { w << "w" * 2_000_000 }, w.recv, parts(w)
    m = open["bounded", parts_bound: 4_000_000]
    p m.try_send("m" * 3_000_000), m.try_send("m" * 3_000_000), m.try_send("small"), tried { m << "m" * 5_000_000 }.first
    late = Thread.new { m.send("l" * 3_000_000); :sent }
    p m.recv.size, m.recv, m.recv.size, late.value, tried { m.recv(timeout: 0.1) }, parts(m)

    puts "-- dropped duplicates"
    d = open["once", deduplicate: 60]
    3.times { d.send("d" * 2_000_000, id: "a") }
    d << "e" * 2_000_000
    p d.size, parts(d, 16), d.recv.size, d.recv.size, d.recv(timeout: 0.1), parts(d)
    d.send("d" * 2_000_000, id: "a")
    p d.size, parts(d)

    puts "-- many receivers"
    results = RubyVM::Channel.new
    many = open["many"]
    vms = Array.new(3) { RubyVM.fork(many, results) { |jobs, out| jobs.each { |text| out << [text.size, text[0]] } } }
    senders = Array.new(2) { |k| RubyVM.fork(many, k) { |jobs, k| 8.times { |i| jobs << (97 + 8 * k + i).chr * (1_500_000 + i) } } }
    got = Array.new(16) { results.recv }
    p got.map(&:last).sort.join, got.sum(&:first)
    senders.each(&:join)
    many.close
    vms.each(&:join)
    p settled(many), parts(many)

    puts "-- receivers that end"
    k = open["killed", ack_wait: 0.5, tries: nil]
    k << "k" * 20_000_000
    5.times do |i|
      vm = RubyVM.fork(k) { |jobs| jobs.recv; sleep }
      sleep 0.03 + 0.04 * i
      vm.kill(grace: 0)
    end
    thread = Thread.new { k.recv }
    sleep 0.02 until k.__queue.connection.synchronize { k.tokens.any? } || !thread.alive?
    thread.kill.join
    p k.recv(timeout: 10).size, k.reject, k.recv(timeout: 10).size, k.attempt > 1, k.ack, settled(k), parts(k)

    puts "-- missing parts"
    g = open["gone", tries: 2]
    g << "g" * 2_000_000
    g.__queue.connection.api("STREAM.PURGE.zakuro-parts_gone")
    g << "after"
    p g.recv, g.recv(timeout: 1.5), settled(g), g.stat.values_at(:received, :set_aside)
    p g.__queue.connection.api("STREAM.MSG.GET.zakuro_gone_dead", { seq: 1 })["message"]["hdrs"].unpack1("m").lines.grep(/Why|Zakuro/).map { |line| line.sub(/\h{18}/, "ID").chomp }

    puts "-- a sender that is killed"
    a = open["aged"]
    pid = Process.spawn(RbConfig.ruby, "-e", "RubyVM::Channel.open(#{server.url("aged").dump}, parts_age: 1) << 'x' * 100_000_000")
    begin
      found = a.__queue.connection.api("STREAM.INFO.zakuro-parts_aged")["state"]["messages"] rescue nil
    end until found.to_i > 0
    kill(pid)
    p a.size, parts(a)

    puts "-- cut connections"
    proxy = Proxy.start(server.port)
    url = "nats://127.0.0.1:#{proxy.port}/cut"
    sender, receiver = RubyVM::Channel.open(url, timeout: 20), RubyVM::Channel.open(url, ack_wait: 2, timeout: 20)
    sending = Thread.new { 8.times { |i| sender << [i, i.to_s * 4_000_000] } }
    cutting = Thread.new { 12.times { sleep 0.06; proxy.cut(0.7) } }
    found = Hash.new(0)
    wrong = 0
    until found.size == 8
      i, text = receiver.recv
      found[i] += 1
      wrong += 1 unless text == i.to_s * 4_000_000
    end
    [sending, cutting].each(&:join)
    receiver.disconnect
    sender.disconnect
    p found.keys.sort, wrong, proxy.cuts > 0
    proxy.stop

    c.delete
    p s.__queue.connection.api("STREAM.LIST")["streams"].map { |stream| stream["config"]["name"] }.grep(/plain/)
  ensure
    server.stop
  end
end
