# Needs redis-server and nats-server.
# A worker that was told to end (SIGTERM) does so although it has a job that never ends, when nobody waits for that any more: its program was killed, or has shut down its pool.
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  program = File.join(dir, "program.rb")
  File.write(program, <<~'RUBY')
    url, began = ARGV
    pool = RubyVM::Pool.new(connect: url)
    pool.submit(began) { |name| RubyVM::Channel.open(name) << :began; sleep 1 while true }
    sleep
  RUBY
  # Both at once: it mostly waits.
  seen = %w[redis nats].map do |kind|
    Thread.new do
      out = ["== #{kind}"]
      server = Servers.start(kind, dir)
      began = RubyVM::Channel.open(server.url("began"))
      start = -> { Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "1", "--caller-timeout", "3", out: File::NULL, err: File::NULL) }
      left = ->(worker) { Process.kill(:TERM, worker); Process.wait(worker); out << "left #{$?.exitstatus}" }

      worker = start.call
      pid = Process.spawn(RbConfig.ruby, program, server.url("pool"), server.url("began"))
      out << began.recv.inspect
      Process.kill(:KILL, pid)
      Process.wait(pid)
      left.(worker)

      worker = start.call
      pool = RubyVM::Pool.new(connect: server.url("pool"))
      pool.submit(server.url("began")) { |name| RubyVM::Channel.open(name) << :began; sleep }
      out << began.recv.inspect
      pool.shutdown
      left.(worker)
      server.stop
      out
    end
  end
  puts seen.map(&:value)
end
