# Needs redis-server and nats-server.
# Who asks and does not wait; channels that are closed; a process that was forked; blocks that use themselves (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

def polled(pause = 0.05) = 100.times { found = yield and return found; sleep pause } && :nothing

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    channel = RubyVM::Channel.open(server.url("polls"))
    (1..5).each { channel << it }
    p polled { channel.try_recv }, polled { channel.recv(timeout: 0) }, polled { channel.recv(timeout: 0.0001) }, polled { RubyVM.select(channel, timeout: 0)&.last }
    # Slower than what was fetched ahead stays for those that wait.
    p polled(1.7) { channel.try_recv }
    channel.ack
    200.times { sleep 0.05 if channel.size > 0 }
    p channel.size

    closed, local = RubyVM::Channel.open(server.url("closed")), RubyVM::Channel.new
    [closed, local].each(&:close)
    p tried { RubyVM.select(closed, local) }, tried { RubyVM.select(closed, timeout: 5) }

    # What is under way when somebody closes the channel is not lost without a word.
    sender, other = RubyVM::Channel.open(server.url("window"), window: 8), RubyVM::Channel.open(server.url("window"))
    sender << 1
    sender.flush
    other.close
    p tried { 20.times { sender << it }; sender.flush }.then { |c, text| [c, text.sub(/\d+ messages? that (was|were) under way (was|were)/, "what was under way was")] }, other.size

    # A child has connections of its own.
    pid = Process.fork do
      channel << [:child, channel.recv(timeout: 10)]
      exit! 0
    end
    channel << :parent
    Process.wait(pid)
    p channel.recv(timeout: 10), channel.stat[:sent]
    channel.delete

    calls = RubyVM::Channel.open(server.url("calls"))
    fib = ->(n) { n < 2 ? n : fib.(n - 1) + fib.(n - 2) }
    odd = nil
    even = ->(n) { n == 0 || odd.(n - 1) }
    odd = ->(n) { n != 0 && even.(n - 1) }
    calls << fib << even
    p calls.recv.call(15), calls.recv.call(7)
    calls.delete

    Dir.chdir(dir) do
      ["raise 'boom'", "exit", "def x("].each do |program|
        File.write("program.rb", program)
        message = IO.popen([RbConfig.ruby, "worker", "--connect", server.url("bad"), "program.rb", err: %i[child out]], &:read)
        puts message.lines.first[/failed: (.*)/, 1].sub(/\S*program/, "program"), $?.exitstatus
      end
    end
  ensure
    server&.stop
  end
end

pool = RubyVM::Pool.new(size: 1, name: "p")
Process.wait(Process.fork { p tried { pool.map([1]) { it } }, pool; $stdout.flush; exit! 0 })
p pool.map([1]) { it }
