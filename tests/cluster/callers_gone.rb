# Needs redis-server and nats-server.
# Jobs whose pool is gone do not keep a worker's VMs, be they at something or waiting; those of pools that can't be heard for a while do. A worker that was killed is none for pools that come later.
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  app = File.join(dir, "app.rb")
  File.write(app, "")
  program = File.join(dir, "program.rb")
  File.write(program, <<~'RUBY')
    url, began = ARGV
    pool = RubyVM::Pool.new(connect: url)
    4.times do |n|
      pool.submit(began, n) do |name, n|
        RubyVM::Channel.open(name) << :began
        case n
        when 0 then sleep
        when 1 then nil while true
        when 2 then begin sleep ensure sleep end
        else sleep 0.01 while true
        end
      end
    end
    sleep
  RUBY
  # Both at once: it mostly waits.
  seen = %w[redis nats].map do |kind|
    Thread.new do
      out = ["== #{kind}"]
      show = ->(*values) { out.concat(values.map(&:inspect)) }
      server = Servers.start(kind, dir)
      said = File.join(dir, "said-#{kind}")
      worker = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("pool"), "--size", "4", "--caller-timeout", "5", app, out: File::NULL, err: said)
      began = RubyVM::Channel.open(server.url("began"))
      dead = Process.spawn(RbConfig.ruby, "worker", "--connect", server.url("dead"), "--size", "1", out: File::NULL, err: File::NULL)
      RubyVM::Pool.open(connect: server.url("dead")) { |pool| show.(pool.map([1]) { |n| n + 1 }) }
      Process.kill(:KILL, dead)
      Process.wait(dead)
      died = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      out << "-- killed"
      pid = Process.spawn(RbConfig.ruby, program, server.url("pool"), server.url("began"))
      show.(Array.new(4) { began.recv(timeout: 30) })
      Process.kill(:KILL, pid)
      Process.wait(pid)
      pool = RubyVM::Pool.new(connect: server.url("pool"))
      # All four at once: each waits for the others.
      meet = proc do |url, n|
        come, go = RubyVM::Channel.open("#{url}-come"), RubyVM::Channel.open("#{url}-go-#{n}")
        come << n
        go.recv(timeout: 60)
      end
      futures = 4.times.map { |n| pool.submit(server.url("meet"), n, &meet) }
      come = RubyVM::Channel.open(server.url("meet-come"))
      show.(Array.new(4) { come.recv(timeout: 60) }.sort)
      4.times { |n| RubyVM::Channel.open(server.url("meet-go-#{n}")) << n * n }
      show.(futures.map { |f| f.value(60) })

      out << "-- shut down"
      other = RubyVM::Pool.new(connect: server.url("pool"))
      other.submit(server.url("began")) { |name| RubyVM::Channel.open(name) << :began; sleep }
      show.(began.recv(timeout: 30))
      other.shutdown
      futures = 4.times.map { |n| pool.submit(server.url("meet"), n, &meet) }
      show.(Array.new(4) { come.recv(timeout: 60) }.sort)
      4.times { |n| RubyVM::Channel.open(server.url("meet-go-#{n}")) << n }
      show.(futures.map { |f| f.value(60) })

      out << "-- a pool that is there, and a server that is not for a while"
      runs = File.join(dir, "runs-#{kind}")
      long = pool.submit(server.url("began"), runs) do |name, runs|
        # (The answer to this may come when the server goes on.)
        RubyVM::Channel.open(name, timeout: 60) << :began
        File.write(runs, "x", mode: "a")
        sleep 8
        :done
      end
      show.(began.recv(timeout: 30))
      server.suspend
      sleep 6
      server.continue
      show.(long.value(60), File.read(runs))
      pool.close
      Process.kill(:TERM, worker)
      Process.wait(worker)
      show.(File.read(said).scan(/(\S+) jobs? (?:was|were) ended: the pool that waited for (?:it|them) is gone/).sum { |n,| n == "a" ? 1 : n.to_i })
      # It is remembered for 10 s.
      sleep [died + 12 - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max
      late = RubyVM::Pool.new(connect: server.url("dead"), worker_timeout: 0.5)
      show.((late.map([1]) { 1 } rescue $!.message[/.*none is there/]), late.report.machines)
      server.stop
      out
    end
  end
  puts seen.map(&:value)
end
