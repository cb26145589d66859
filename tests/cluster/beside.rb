# Needs redis-server and nats-server.
# A job beside which others end the worker's process is not blamed for it (docs/cluster.md, `tries:`).
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    workers = []
    begin
      start = -> { Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("beside"), "--size", "3", "--ack-wait", "1", out: File::NULL, err: File::NULL) }
      keep = Thread.new { loop { workers << start.call; Process.wait(workers.last) } }
      pool = RubyVM::Pool.new(connect: server.url("beside"), tries: 1)
      values = pool.map([1, 2, 3, 4, 5, 6], errors: :return, timeout: 60) { |n| sleep 0.3; n == 2 ? system("kill -9 #{Process.pid}; sleep 5") : n }
      p values.map { |v| RubyVM::Pool::JobError === v ? v.message : v }
      # Two of them, and what they have beside them.
      values = pool.map(1..9, errors: :return, timeout: 60) { |n| sleep 0.1; n == 3 || n == 4 ? system("kill -9 #{Process.pid}; sleep 5") : n }
      p values.map { |v| RubyVM::Pool::JobError === v ? v.message : v }
      keep.kill
      pool.close
    ensure
      keep&.kill
      workers.each { |pid| Process.kill(:KILL, pid) rescue nil }
      server.stop
    end
  end
end
