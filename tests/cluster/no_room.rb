# Needs redis-server.
# A server that takes nothing for a while (Redis at its `maxmemory`) is waited for, as one that is away, and the pool tells why nothing goes on.
require "tmpdir"
require_relative "support/servers"

def redis(server, *words)
  TCPSocket.open("127.0.0.1", server.port) do |s|
    s.write("#{words.join(" ")}\r\n")
    s.gets
  end
end

def until_true
  300.times do
    found = yield
    return found if found
    sleep(0.05)
  end
  nil
end

Dir.mktmpdir do |dir|
  server = Servers.start("redis", dir)
  worker = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "1", out: File::NULL, err: File::NULL)
  told = $stderr
  $stderr = File.open(File.join(dir, "told"), "w+")
  # The pool warns.
  $VERBOSE = false
  pool = RubyVM::Pool.new(connect: server.url("pool"))
  p pool.map(1..3) { |n| n }, pool.report.hint
  redis(server, "CONFIG", "SET", "maxmemory", "1")
  futures = Array.new(3) { |n| pool.submit(n) { |x| x * 2 } }
  p until_true { pool.report.hint }&.sub(/:\d{4,5}/, ":PORT"), pool.closed?, pool.report.to_s.include?(pool.report.hint)
  redis(server, "CONFIG", "SET", "maxmemory", "0")
  p futures.map(&:value)
  p until_true { pool.report.hint.nil? }, pool.map(1..3) { |n| n }
  pool.close
  # For ever is too long.
  pool = RubyVM::Pool.new(connect: server.url("pool"), patience: 1)
  redis(server, "CONFIG", "SET", "maxmemory", "1")
  begin
    pool.map([1]) { |n| n }
  rescue RubyVM::Pool::Error => e
    p e.class, e.message.sub(/pool-\d+/, "NAME").sub(/:\d{4,5}/, ":PORT")
  end
  $stderr.rewind
  puts $stderr.read.lines.map { |line| line.sub(/pool-\d+/, "NAME").sub(/:\d{4,5}/, ":PORT") }.uniq
ensure
  $stderr = told
  redis(server, "CONFIG", "SET", "maxmemory", "0")
  Process.kill(:KILL, worker)
  Process.wait(worker)
  server.stop
end
