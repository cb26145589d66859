# Needs redis-server and nats-server.
# A set-up that fails on a worker breaks the pool, as it does in one of this process; and how busy workers were is told over the pool's time, by its own jobs.
require "tmpdir"
require_relative "support/servers"

class Odd < StandardError; end

# Where it was asked is in the backtrace.
def asked_at(error, line) = error.backtrace.any? { |one| one.start_with?("#{__FILE__}:#{line}:") }

Dir.mktmpdir do |dir|
  app = File.join(dir, "app.rb")
  File.write(app, "class Odd < StandardError; end\n")
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    worker = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "2", app, out: File::NULL, err: File::NULL)
    {
      "raises" => proc { raise Odd, "no good" },
      "exits" => proc { exit 3 },
      "exits at once" => proc { exit! 4 },
      "knows why" => proc do
        raise KeyError, "inner"
      rescue KeyError
        raise Odd, "outer"
      end
    }.each do |name, setup|
      pool = RubyVM::Pool.new(connect: server.url("pool"), &setup)
      future = pool.submit { 1 }
      begin
        pool.map(1..10) { |n| n }
      rescue RubyVM::Pool::SetupError => e
        puts "#{name}: #{e.message.sub(/pool-\d+/, "NAME").sub(/at \S+:\d+\z/, "at PLACE")}", e.cause.class
        p e.cause.cause&.message, asked_at(e, __LINE__ - 3)
      end
      begin
        future.value
      rescue RubyVM::Pool::SetupError => e
        p e.cause.class, asked_at(e, __LINE__ - 2)
      end
      begin
        pool.map([1]) { |n| n }
      rescue RubyVM::Pool::SetupError => e
        p asked_at(e, __LINE__ - 2), pool.closed?, pool.report.hint.start_with?("the set-up of the pool")
      end
    end
    puts "others"
    pool = RubyVM::Pool.new(connect: server.url("pool")) { [] }
    p pool.map(1..4) { |n| RubyVM::Pool.local << n; n }.sum
    # Those that fail took time as well.
    pool.map([0.3, 0.2], errors: :return) { |s| sleep(s); s < 0.25 ? raise("late") : s }
    report = pool.report
    p report.busy.size, (report.busy[0] * report.elapsed * 2 - report.time[:sum]).abs < 0.01, report.time[:sum] > 0.49, report.machines[0][:busy] == report.busy[0]
    pool.close
    # One that did nothing on the same worker.
    idle = RubyVM::Pool.new(connect: server.url("pool"))
    sleep(0.05) until idle.report.machines[0]&.then { |machine| machine[:jobs] >= 6 }
    p idle.report.busy, idle.report.machines[0][:busy]
    idle.shutdown
  ensure
    Process.kill(:KILL, worker)
    Process.wait(worker)
    server.stop
  end
end
