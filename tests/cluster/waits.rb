# Needs redis-server and nats-server.
# A pool whose jobs nobody does says so, and why (docs/cluster.md).
require "open3"
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    puts "== #{kind}"
    server = Servers.start(kind, dir)
    workers = []
    start = lambda do |name, *options, key: nil|
      environment = { "ZAKURO_CLUSTER_KEY" => key }
      workers << Process.spawn(environment, RbConfig.ruby, "worker", "--connect", server.url(name), *options, out: File::NULL, err: File::NULL)
      workers.last
    end
    stop = -> { workers.each { |pid| Process.kill(:KILL, pid) rescue nil; Process.wait(pid) }; workers.clear }
    # What the pool's process says on its standard error, and the pool in its report, until a worker fits.
    watch = lambda do |name, key, quiet: false, &change|
      program = <<~RUBY
        pool = RubyVM::Pool.new(connect: #{server.url(name).dump}, name: "p", key: #{key.inspect})
        f = pool.submit(20) { |n| n + 1 }
        sleep 0.05 until pool.report.hint
        puts pool.report.hint, pool.report.to_s.lines.last == pool.report.hint + "\n"
        $stdout.flush
        gets
        puts f.value
        sleep 0.05 while #{quiet} && pool.report.hint
        puts "done"
      RUBY
      Thread.new do
        Open3.popen3(RbConfig.ruby, "-e", program) do |input, output, errors, _|
          told = 2.times.map { output.gets }
          change.call
          input.puts
          told << output.read << errors.gets
          ["-- #{name}", *told].map { |text| text.gsub(/:\d{4,5}\b/, ":PORT") }
        end
      end
    end
    begin
      stranger = ->(name, key) { start.call(name, "--size", "1", key:) }
      replace = ->(name, pid, key) { start.call(name, "--size", "1", key:); Process.kill(:KILL, pid) }
      watched = [watch.call("nobody", nil, quiet: true) { stranger.call("nobody", nil) }]
      { "another" => %w[one two], "none" => [nil, "two"], "many" => ["one", nil] }.each do |name, (theirs, ours)|
        pid = stranger.call(name, theirs)
        watched << watch.call(name, ours) { replace.call(name, pid, ours) }
      end
      puts watched.map(&:value)
      stop.call
      puts "-- a limit"
      $stderr = File.open(File::NULL, "w")
      pool = RubyVM::Pool.new(connect: server.url("limit"), worker_timeout: 1.5, name: "p")
      p tried { pool.map([1]) { |n| n } }.then { |c, text| [c, text.sub(/ \(zakuro worker.*\)/, "")] }
      pool.shutdown
      puts "-- workers that can't start"
      program = File.join(dir, "broken.rb")
      { "it raises" => "raise \"no\\e[31m configuration\"", "no file" => nil, "its VM ends" => "exit! 3" }.each do |why, text|
        text ? File.write(program, text) : File.delete(program)
        Process.wait(start.call("broken", "--size", "1", program, key: "k"))
        workers.pop
        pool = RubyVM::Pool.new(connect: server.url("broken"), key: "k", worker_timeout: 1.5, name: "p")
        p why, tried { pool.map([1]) { |n| n } }.then { |c, said| [c, said.sub(/ \(zakuro worker.*?\)/, "").sub(/start, \S+:(\d+|PORT):/, "start, HOST:PID:").gsub(dir, "DIR")] }
        p pool.report.hint.include?("could not start"), pool.report.to_s.lines.last.include?("could not start")
        pool.shutdown
      end
      puts "-- a worker that can't go on"
      flag = File.join(dir, "flag")
      File.write(program, "raise 'gone' if File.exist?(#{flag.dump})")
      pid = start.call("ends", "--size", "1", program)
      pool = RubyVM::Pool.new(connect: server.url("ends"), name: "p")
      pool.submit(flag) { |file| File.write(file, ""); exit! }.wait
      pool.submit(1) { |n| n }
      Process.wait(pid)
      workers.pop
      pool.shutdown
      File.delete(flag)
      pool = RubyVM::Pool.new(connect: server.url("ends"), worker_timeout: 1.5, name: "p")
      p tried { pool.map([1]) { |n| n } }.then { |c, said| [c, said.sub(/ \(zakuro worker.*?\)/, "").sub(/ended, \S+:(\d+|PORT):/, "ended, HOST:PID:")] }
      pool.shutdown
      $stderr = STDERR
      p tried { RubyVM::Pool.new(connect: server.url("limit"), worker_timeout: 0) }
    ensure
      workers.each { |pid| Process.kill(:KILL, pid) rescue nil }
      server.stop
    end
  end
end
