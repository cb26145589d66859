# Needs redis-server and nats-server.
# Workers with another key than a pool take none of its jobs, and say why they have nothing to do (docs/cluster.md). The report knows what was done as soon as it is done.
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    workers = {}
    begin
      said = ->(name) { File.join(dir, "#{kind}.#{name}") }
      start = lambda do |name, key|
        workers[name] = Process.spawn({ "ZAKURO_CLUSTER_KEY" => key }, RbConfig.ruby, "worker", "--connect", server.url("keyed"), "--size", "2", out: File::NULL, err: said[name])
      end
      start["another", "two"]
      start["none", nil]
      sleep 1
      pool = RubyVM::Pool.new(connect: server.url("keyed"), key: "one", name: "p")
      start["right", "one"]
      first = pool.submit(1) { |n| n + 1 }
      p first.value(30)
      p pool.map(1..100) { |n| sleep 0.001; n }.sum
      # What a stranger took would be told again, after five seconds.
      p pool.report.restarts
      machines = pool.report.machines.sort_by { |m| m[:jobs] }
      p machines.map { |m| [m[:jobs], m[:fits], m[:pid] == workers["right"]] }, pool.report.to_s.scan(/, another key$/).size, pool.report.hint
      100.times do
        break if %w[another none].all? { |name| File.size(said[name]) > 0 }
        sleep 0.1
      end
      %w[another none right].each { |name| puts "#{name}: #{File.read(said[name]).gsub(/:\d{4,5}\//, ":PORT/").sub(/, of [\w.-]+:#{Process.pid},/, ", of HERE,")}" }
      # It is of use for a pool that has its key.
      pool.close
      RubyVM::Pool.open(connect: server.url("keyed"), key: "two") { |other| p other.map([1, 2]) { |n| n * 2 } }
      # A report right after a few jobs.
      3.times do
        RubyVM::Pool.open(connect: server.url("keyed")) do |other|
          other.map(1..4) { |n| n }
          p other.report.machines.sum { |m| m[:fits] ? m[:jobs] : 0 }
        end
      end
    ensure
      workers.each_value { |pid| Process.kill(:KILL, pid) rescue nil }
      server.stop
    end
  end
end
