# Needs redis-server and nats-server.
# A worker at jobs of another pool that do not end: whoever waits for it is told, and a second signal ends it, which leaves its jobs to others.
require "tmpdir"
require_relative "support/servers"

def wait_until(seconds = 30)
  by = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  until yield
    return false if Process.clock_gettime(Process::CLOCK_MONOTONIC) > by
    sleep 0.05
  end
  true
end

Dir.mktmpdir do |dir|
  app = File.join(dir, "app.rb")
  File.write(app, "")
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    said = File.join(dir, "said")
    worker = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "1", app, out: File::NULL, err: said)
    first = RubyVM::Pool.new(connect: server.url("pool"))
    began = RubyVM::Channel.open(server.url("began"))
    job = proc { |name| RubyVM::Channel.open(name) << :began; sleep }
    hanging = first.submit(server.url("began"), &job)
    p began.recv(timeout: 30)
    second = RubyVM::Pool.new(connect: server.url("pool"), worker_timeout: 1)
    future = second.submit { 5 }
    p wait_until { second.report.hint.to_s.include?("other pools") }, second.report.hint, second.report.machines.map { |m| m.values_at(:size, :jobs, :ended) }
    Process.kill(:TERM, worker)
    p wait_until { File.read(said).include?("another signal") }, File.read(said).lines.grep_v(/pool-/)
    Process.kill(:TERM, worker)
    p Process.wait2(worker)[1].exitstatus
    first.shutdown
    other = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "2", app, out: File::NULL, err: File::NULL)
    p future.value(60), second.report.hint
    second.close
    Process.kill(:TERM, other)
    # What the first pool's worker was at may run there as well.
    sleep 0.2
    Process.kill(:KILL, other) rescue p $!
    Process.wait(other)
    p((hanging.value(1) rescue $!.class))
    server.stop
  end
end
