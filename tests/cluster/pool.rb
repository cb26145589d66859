# Needs redis-server and nats-server.
# Pools over workers of other processes (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

Point = Struct.new(:x, :y)
module Deep
  FACTOR = 3
  def self.run(pool) = pool.map([1, 2]) { |n| n * FACTOR }
  def self.twice(n) = n * 2
  def self.with_self(pool) = pool.map([1, 2]) { |n| twice(n) * FACTOR }
  module Inner
    def self.run(pool) = pool.map([1]) { |n| [FACTOR, DEPTH, Module.nesting] }
  end
end

def tried
  yield
rescue Exception => e
  [e.class, e.message]
end

Dir.mktmpdir do |dir|
  app = File.join(dir, "app.rb")
  File.write(app, <<~RUBY)
    Point = Struct.new(:x, :y)
    module Deep; FACTOR = 3; def self.twice(n) = n * 2; module Inner; DEPTH = 2; end; end
    def square(n) = n * n
  RUBY
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    url = server.url("pool")
    start = -> { Process.spawn(RbConfig.ruby, "worker", "--connect", url, "--size", "1", "--ack-wait", "1", app, out: File::NULL) }
    workers = [start.call, start.call]
    begin
      pool = RubyVM::Pool.new(connect: url, tries: 2) { :made_there }
      factor = 10
      p pool.map(1..20) { |n| n * factor + square(n) }
      p pool.map([Point.new(1, 2)]) { |q| Point.new(q.y, q.x) }
      p Deep.run(pool), Deep.with_self(pool), Deep::Inner.run(pool), pool.map(%w[a b], &:upcase), pool.submit(1, 2) { |a, b| a + b }.value
      p pool.map([1]) { RubyVM::Pool.local }
      p pool.stream(1.step) { |n| n * n }.first(5), pool.each([1, 2]) { |n| n }
      error = begin
        pool.map([1, 2, 3]) { |n| n == 2 ? raise(ArgumentError, "two!") : n }
      rescue RubyVM::Pool::JobError => e
        e
      end
      p error, error.index, error.cause, error.cause.backtrace[0][/\w+\.rb:\d+/] == "pool.rb:#{__LINE__ - 4}"
      p pool.map([1, 2], errors: :return, timeout: 0.5) { |n| n == 2 ? sleep : n }
      p pool.map([1, 2], errors: :return) { |n| n == 2 ? exit(3) : n }
      tries = File.join(dir, "tries.#{kind}")
      p pool.map([1, 2, 3], errors: :return, retry: 2) { |n| n == 2 && File.write(tries, "x", mode: "a") && File.size(tries) < 3 ? raise("again") : n }
      lock = Mutex.new
      p tried { pool.map([1]) { lock.lock } }, tried { pool.map([lock]) { |x| x } }
      p pool.map(1..5000) { |n| n }.sum
      # A job that ends whoever does it.
      workers.each { |pid| Process.detach(pid) }
      keep = Thread.new { loop { sleep 0.3; workers << start.call } }
      p pool.map([1, 2], errors: :return) { |n| n == 2 ? system("kill -9 #{Process.pid}; sleep 5") : n }
      keep.kill
      report = pool.report
      p report.errors, report.timeouts, report.machines.any? { |m| m[:size] == 1 && m[:host] }
      pool.close
      p pool.closed?, tried { pool.map([1]) { |x| x } }.first
      # Signed: workers without the key, or with another one, do nothing of it.
      signed = RubyVM::Pool.new(connect: server.url("signed"), key: "the key")
      key = File.join(dir, "key")
      File.write(key, "another key\n")
      more = [[], ["--key-file", key]].map { |options| Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("signed"), "--size", "1", *options, out: File::NULL, err: File::NULL) }
      future = signed.submit(20) { |n| n + 1 }
      p future.wait(1)
      File.write(key, "the key\n")
      more << Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("signed"), "--size", "1", "--key-file", key, out: File::NULL)
      more.shift(2).each { |pid| Process.kill(:KILL, pid) }
      p future.value, signed.map(1..3) { |n| n }
      signed.close
      workers.concat(more)
      # A server that goes away for good.
      pool = RubyVM::Pool.new(connect: url, patience: 0.5, timeout: 0.5)
      future = pool.submit { sleep }
      server.stop
      p tried { future.value }.first
      pool.shutdown
    ensure
      keep&.kill
      workers.each { |pid| Process.kill(:KILL, pid) rescue nil }
      server.stop
    end
  end
end
p tried { RubyVM::Pool.new(connect: "redis://host") }, tried { RubyVM::Pool.new(connect: "redis://host/x", size: 3) }, tried { RubyVM::Pool.new(connect: "redis://host/x", memory_limit: 3) }
# Needs the standard library.
