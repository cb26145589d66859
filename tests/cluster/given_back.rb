# Needs redis-server and nats-server.
# What goes back when a handle ends, and how soon others have it (docs/cluster.md).
require "timeout"
require "tmpdir"
require_relative "support/servers"

Thread.report_on_exception = false

def seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    begin
      open = ->(name, **options) { RubyVM::Channel.open(server.url(name), **options) }

      puts "-- with `disconnect` in an `ensure`, of threads that are ended at their work"
      [:each, :recv].product([:kill, :raise, :timeout]).each do |way, ends|
        name = "#{way}_#{ends}"
        to = open[name]
        3.times { |i| to << i }
        at_it = Thread::Queue.new
        work = ->(_) { at_it << true; sleep }
        thread = Thread.new do
          handle = open[name]
          begin
            body = proc { way == :each ? handle.each(&work) : work[handle.recv] }
            ends == :timeout ? Timeout.timeout(0.3, &body) : body.call
          ensure
            handle.disconnect
          end
        end
        at_it.pop
        ends == :kill ? thread.kill : ends == :raise ? thread.raise("no more") : nil
        begin
          thread.join
        rescue StandardError
          nil
        end
        handle = open[name]
        p [way, ends, Array.new(3) { handle.recv(timeout: 20) }.sort]
        handle.disconnect
        to.disconnect
      end

      puts "-- of another thread, whose block of `each` is at one"
      to = open["other"]
      3.times { |i| to << i }
      handle = open["other"]
      at_it = Thread::Queue.new
      thread = Thread.new { handle.each { |m| at_it << m; sleep } }
      at_it.pop
      handle.disconnect
      thread.kill.join
      p Array.new(3) { to.recv(timeout: 20) }.sort

      puts "-- what counts as done"
      to = open["done"]
      3.times { |i| to << i }
      handle = open["done"]
      handle.recv
      handle.disconnect
      handle = open["done"]
      handle.each { break }
      handle.disconnect
      p to.recv(timeout: 20), to.recv(timeout: 1)

      puts "-- many at once"
      to = open["many"]
      100.times { |i| to << i }
      handle = open["many", ack: :manual]
      50.times do
        handle.recv
        handle.ack
      end
      sleep 0.1
      handle.disconnect
      handle = open["many"]
      since = seconds
      p Array.new(50) { handle.recv(timeout: 20) }.uniq.size
      # (One each second it would be 50.)
      p seconds - since < 12
    ensure
      server.stop
    end
  end
end
