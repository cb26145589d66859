# Needs redis-server and nats-server.
# What a pool and its workers hold of a server outlives collections of everything (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  program = File.join(dir, "program.rb")
  File.write(program, "")
  %w[redis nats].each do |kind|
    server = Servers.start(kind, dir)
    worker = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("p"), "--size", "2", program, out: File::NULL, err: File::NULL)
    pool = RubyVM::Pool.new(connect: server.url("p"))
    p pool.map(1..20) { |n| GC.start if n == 1; n }.sum
    3.times { GC.start }
    sleep 0.5
    p pool.map(1..20) { |n| n * 2 }.sum
    5.times { stream = pool.stream(1..1000) { |n| n }; stream.next; stream.next }
    3.times { GC.start }
    p pool.map(1..20) { |n| n * 3 }.sum
    pool.close
  ensure
    Process.kill(:KILL, worker)
    Process.wait(worker)
    server&.stop
  end
end
