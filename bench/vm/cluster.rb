# Messages through a server: channels of Zakuro beside plain use of the same server from CRuby (a socket, RESP by hand: XADD, XREADGROUP, XACK).
# cluster.rb [MESSAGES] starts servers of its own (those that are installed) and prints lines `name value unit`: messages per second of 100 bytes from one sender to one receiver in another process, all
# acknowledged; megabytes per second in messages of 0.5 and 5 MB (which NATS gets in parts); microseconds for a message there and one back; jobs per second of a pool with two workers. `plain_redis_*` is what runs under `ruby`, in this program as under that one.
require "rbconfig"
require "tmpdir"
require "socket"
require_relative "../../tests/cluster/support/servers"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# RESP by hand.
class Plain
  def initialize(port)
    @socket = TCPSocket.new("127.0.0.1", port)
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def write(*parts) = @socket.write("*#{parts.size}\r\n" + parts.map { |p| p = p.to_s; "$#{p.bytesize}\r\n#{p}\r\n" }.join)
  def call(*parts) = write(*parts).then { read }

  def read
    line = @socket.gets("\r\n").chomp("\r\n")
    case line[0]
    when "$" then (n = line[1..].to_i) < 0 ? nil : @socket.read(n + 2)[0, n]
    when "*" then (n = line[1..].to_i) < 0 ? nil : Array.new(n) { read }
    when ":" then line[1..].to_i
    when "-" then line.include?("BUSYGROUP") ? nil : raise(line)
    else line[1..]
    end
  end
end

# Receives so many, acknowledged in lots as they came.
def plain_receive(port, stream, count)
  plain = Plain.new(port)
  plain.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
  got = 0
  while got < count
    found = plain.call("XREADGROUP", "GROUP", "g", "c", "COUNT", 64, "BLOCK", 5000, "STREAMS", stream, ">") or raise "nothing came"
    ids = found[0][1].map { |id, fields| Marshal.load(fields[1]); id }
    plain.call("XACK", stream, "g", *ids)
    plain.call("XDEL", stream, *ids)
    ids.each { |id| yield plain, id } if block_given?
    got += ids.size
  end
end

message = "x" * 100
case ARGV[0]
when "--plain-receive"
  plain_receive(ARGV[1].to_i, "flood", ARGV[2].to_i)
  puts "done"
  exit!
when "--plain-echo"
  plain_receive(ARGV[1].to_i, "there", ARGV[2].to_i) { |plain, _| plain.call("XADD", "back", "*", "m", Marshal.dump(1)) }
  exit!
when "--receive"
  channel = RubyVM::Channel.open(ARGV[1])
  ARGV[2].to_i.times { channel.recv }
  channel.disconnect
  puts "done"
  exit!
when "--echo"
  there, back = RubyVM::Channel.open("#{ARGV[1]}there"), RubyVM::Channel.open("#{ARGV[1]}back")
  ARGV[2].to_i.times { back << there.recv }
  there.disconnect
  exit!
end

count = Integer(ARGV[0] || 20_000)
trips = count / 10
again = [RbConfig.ruby, __FILE__]

def rate(name, count)
  start = now
  yield
  puts format("%s %.0f messages/s", name, count / (now - start))
end

def latency(name, trips)
  best = (1..5).map do
    start = now
    (trips / 5).times { yield }
    (now - start) / (trips / 5) * 1e6
  end.min
  puts format("%s %.1f us", name, best)
end

Dir.mktmpdir do |dir|
  if (server = Servers.start("redis", dir))
    # One at a time, as a program without a pipeline does it; then with 100 under way.
    [["one_by_one", 1], ["window", 100]].each do |name, window|
      sender = Plain.new(server.port)
      IO.popen([*again, "--plain-receive", server.port.to_s, count.to_s]) do |receiver|
        rate("plain_redis_#{name}", count) do
          under_way = 0
          count.times do
            sender.write("XADD", "flood", "*", "m", Marshal.dump(message))
            (under_way += 1) >= window and (sender.read; under_way -= 1)
          end
          under_way.times { sender.read }
          receiver.gets
        end
      end
    end
    sender, reader = Plain.new(server.port), Plain.new(server.port)
    echo = IO.popen([*again, "--plain-echo", server.port.to_s, (trips / 5 * 5).to_s])
    reader.call("XGROUP", "CREATE", "back", "g", "0", "MKSTREAM")
    latency("plain_redis_round_trip", trips) do
      sender.call("XADD", "there", "*", "m", Marshal.dump(1))
      found = reader.call("XREADGROUP", "GROUP", "g", "c", "COUNT", 1, "BLOCK", 5000, "STREAMS", "back", ">")
      sender.call("XACK", "back", "g", found[0][1][0][0])
      sender.call("XDEL", "back", found[0][1][0][0])
    end
    echo.close
    server.stop
  end
  next unless defined?(RubyVM::Channel)

  %w[redis nats].each do |kind|
    server = Servers.start(kind, dir) or next
    [["one_by_one", nil], ["window", 100]].each do |name, window|
      channel = RubyVM::Channel.open(server.url("flood_#{name}"), window: window)
      IO.popen([*again, "--receive", server.url("flood_#{name}"), count.to_s]) do |receiver|
        rate("channel_#{kind}_#{name}", count) do
          count.times { channel << message }
          channel.flush if window
          receiver.gets
        end
      end
      channel.disconnect
    end
    [["half", 500_000, count / 100], ["five", 5_000_000, count / 500]].each do |name, size, lot|
      channel = RubyVM::Channel.open(server.url("large_#{name}"))
      large = "x" * size
      IO.popen([*again, "--receive", server.url("large_#{name}"), lot.to_s]) do |receiver|
        start = now
        lot.times { channel << large }
        receiver.gets
        puts format("channel_%s_%s_mb %.0f MB/s", kind, name, lot * size / (now - start) / 1e6)
      end
      channel.delete
    end
    there, back = RubyVM::Channel.open(server.url("there")), RubyVM::Channel.open(server.url("back"))
    echo = IO.popen([*again, "--echo", server.url(""), (trips / 5 * 5).to_s])
    latency("channel_#{kind}_round_trip", trips) do
      there << 1
      back.recv
    end
    echo.close
    [there, back].each(&:disconnect)
    workers = Array.new(2) { Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "1", out: File::NULL) }
    RubyVM::Pool.open(connect: server.url("pool")) do |pool|
      pool.map(1..100) { |n| n }
      rate("pool_#{kind}", count * 5) { pool.map(1..count * 5) { |n| n * n } }
    end
    workers.each { |pid| Process.kill(:TERM, pid) }
    workers.each { |pid| Process.wait(pid) }
    server.stop
  end
end
