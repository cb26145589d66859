# Needs redis-server and nats-server.
# What a VM has of a channel when it ends goes to others at once; a server that is gone holds up no end; what comes after works (docs/cluster.md).
require "tmpdir"
require_relative "support/servers"

def took(most)
  before = RubyVM::Cluster.now
  value = yield
  seconds = RubyVM::Cluster.now - before
  [value, seconds < most || seconds]
end

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir, keep: true)
    programs = []
    # A process that does so and waits for a line.
    start = lambda do |code|
      programs << IO.popen([RbConfig.ruby, "-W0", "-e", "url = #{server.url("").dump}\n#{code}\n$stdout.flush\n$stdin.gets"], "r+", err: %i[child out])
      programs.last
    end
    finish = lambda do |program|
      program.puts
      [program.read, Process.wait(program.pid) && $?.exitstatus]
    end
    begin
      open = ->(name, **options) { RubyVM::Channel.open(server.url(name), **options) }
      puts "-- a VM"
      one = open["one"]
      one << :left
      p RubyVM.fork(one) { |c| c.recv }.value
      p took(5) { one.recv(timeout: 20) }, one.attempt
      one.ack
      p tried { RubyVM.fork(one) { |c| c << :again; Thread.new { c.recv }.value; raise "it fails" }.join }[1][/it fails/]
      p took(5) { one.recv(timeout: 20) }
      one.ack

      puts "-- a process, with what it had fetched ahead"
      many = open["many"]
      10.times { |n| many << n }
      program = start['c = RubyVM::Channel.open(url + "many", ack: :manual); p c.recv, c.ack, c.recv; sleep 0.5']
      print program.gets, program.gets, program.gets
      p took(2) { finish[program] }
      p took(5) { Array.new(9) { many.recv(timeout: 20) }.sort }
      many.ack
      p took(5) { sleep 0.1 until many.empty? }

      puts "-- at_exit blocks come before"
      done = open["done"]
      3.times { |n| done << n }
      program = start['c = RubyVM::Channel.open(url + "done", ack: :manual); at_exit { p c.recv, c.ack }; p c.recv, c.ack']
      p finish[program]
      p done.recv(timeout: 20), done.recv(timeout: 0.5)
      done.ack

      puts "-- servers that are gone, or don't answer"
      code = 'cs = Array.new(5) { |i| RubyVM::Channel.open(url + "gone#{i}", ack_wait: 3) }; cs.each { |c| c << 1 << 2; c.recv }; puts "ready"'
      waiting = start["#{code}; p RubyVM.fork(cs[0]) { |c| c.recv }.value"]
      p waiting.gets, waiting.gets
      pool = start['pool = RubyVM::Pool.new(connect: url + "pool"); pool.submit(1) { |n| n }.wait(0.3); puts "pool"']
      p pool.gets
      server.suspend
      p took(3) { finish[waiting] }, took(3) { finish[pool] }
      server.continue
      programs.concat(gone = [start[code.gsub("gone", "off")], start['c = RubyVM::Channel.open(url + "idle"); c.recv(timeout: 0.1); puts "ready"']])
      p gone.map(&:gets)
      kept = open["kept"]
      p kept.recv(timeout: 0.1)
      server.stop
      p gone.map { |program| took(3) { finish[program] } }

      puts "-- the server is back"
      server.run
      p took(10) { kept << :there; kept.recv(timeout: 20) }
      p took(10) { RubyVM.fork(kept) { |c| c << :more; c.recv(timeout: 20) }.value }
      p took(5) { kept.recv(timeout: 20) }
      p took(10) { one << 3; one.recv(timeout: 20) }
      one.ack
      kept.ack
      p took(30) { [*0..4].map { |i| c = open["gone#{i}", ack_wait: 3]; [c.recv(timeout: 20), c.recv(timeout: 20)].sort.tap { c.ack; c.disconnect } } }
      # This VM's own end is none of the server's either.
      program = start['c = RubyVM::Channel.open(url + "kept"); c << 1; p c.recv']
      p program.gets
      server.stop
      p took(3) { finish[program] }
    ensure
      programs.each { |program| Process.kill(:KILL, program.pid) rescue nil }
      server.continue
      server.stop
    end
  end
end
