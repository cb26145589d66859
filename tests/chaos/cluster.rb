# 100,000 jobs of a pool on three worker processes while workers are killed (SIGKILL) and connections to the server are cut at random: every job is answered once, with its own result.
#
#   target/release/zakuro tests/chaos/cluster.rb redis|nats [JOBS [SEED [BYTES]]]
#
# BYTES: so many come with each argument, and with each value.
# Needs redis-server or nats-server. Tells how many workers were killed, connections cut, and jobs executed more than once.
require "tmpdir"
require_relative "../cluster/support/servers"

kind = ARGV[0] || "redis"
jobs = Integer(ARGV[1] || 100_000)
seed = Integer(ARGV[2] || Random.new_seed % 100_000)
random = Random.new(seed)
bytes = Integer(ARGV[3] || 0)
$stdout.sync = true

Dir.mktmpdir do |dir|
  server = Servers.start(kind, dir) or (puts "skipped: there is no #{kind}-server here") || exit
  proxy = Proxy.start(server.port)
  at_exit { server.stop }
  url = "#{server.scheme}://127.0.0.1:#{proxy.port}/chaos"
  app = File.join(dir, "app.rb")
  File.write(app, <<~RUBY)
    # One line for each execution.
    LOG = File.open(File.join(#{dir.dump}, "log.\#{Process.pid}.\#{RubyVM.current.id}"), "a")
    LOG.sync = true
    def work(n, beside)
      LOG.write("\#{n}\\n")
      sum = 0
      sleep(0.001) if n % 2 == 0
      300.times { |i| sum += i * n }
      beside ? [sum, beside] : sum
    end
  RUBY
  command = [RbConfig.ruby, "worker", "--connect", url, "--size", "1", "--ack-wait", "2", app]
  start = -> { Process.spawn(*command, out: File::NULL, err: File.join(dir, "errors"), pgroup: true) }
  workers = Array.new(3) { start.call }
  killed = 0
  stop = false
  # By what is done, not by time: who is fast is killed as often.
  distance = -> { 1_000 + random.rand(1_000) }
  kill_at = distance.call
  kill = -> do
    i = random.rand(workers.size)
    Process.kill(:KILL, workers[i])
    Process.wait(workers[i])
    workers[i] = start.call
    killed += 1
  end
  cutter = Thread.new do
    until stop
      sleep(0.1 + random.rand(0.8))
      proxy.cut(random.rand)
    end
  end
  begin
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    answered = 0
    wrong = []
    RubyVM::Pool.open(connect: url) do |pool|
      expected = (0...300).sum
      beside = ->(n) { (n % 256).chr.b * bytes if bytes > 0 }
      pool.stream((0...jobs).lazy.map { |n| [n, beside.call(n)] }, errors: :return) { |n, more| work(n, more) }.each_with_index do |value, i|
        answered += 1
        if i >= kill_at
          kill.call
          kill_at += distance.call
        end
        wrong << [i, value.inspect[0, 200]] unless value == (bytes > 0 ? [expected * i, beside.call(i)] : expected * i)
      end
      stop = true
      puts pool.report
    end
    took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
    cutter.join
    sleep(0.2)
    executions = Hash.new(0)
    Dir[File.join(dir, "log.*")].each { |path| File.foreach(path) { |line| executions[line.to_i] += 1 } }
    puts "#{kind}, seed #{seed}: #{jobs} jobs, #{answered} answers, #{wrong.size} wrong; #{killed} workers killed, #{proxy.cuts} connections cut; " \
         "#{executions.values.sum} executions, #{executions.count { |_, n| n > 1 }} jobs more than once (at most #{executions.values.max} times), #{jobs - executions.size} never; #{took.round(1)} s"
    p wrong.first(3) unless wrong.empty?
    exit(1) unless answered == jobs && wrong.empty? && executions.size == jobs && killed >= jobs / 2_000 - 1
  ensure
    stop = true
    workers.each { |pid| Process.kill(:KILL, pid) rescue nil }
    proxy.stop
    server.stop
  end
end
