# Needs redis-server and nats-server.
# Channels through servers in reports: who sends, who receives, how long they waited; under the address, whichever handle it was.
require "json"
require "tmpdir"
require_relative "support/servers"

PROGRAM = <<~'RUBY'
  jobs = RubyVM::Channel.open(ARGV[0])
  results = RubyVM::Channel.new(name: "results")
  workers = Array.new(2) { |i| RubyVM.fork(jobs, results, name: "worker#{i}") { |from, to| from.each { |n| to << n * n } } }
  sleep 0.3
  (1..20).each { |n| jobs.send(n) }
  other = RubyVM::Channel.open(ARGV[0], window: 4)
  (21..30).each { |n| other << n }
  other.flush
  puts Array.new(30) { results.recv }.sum
  jobs.close
  begin
    jobs << 1
  rescue RubyVM::ClosedError => e
    puts e.message
  end
  workers.each(&:join)
RUBY

Dir.mktmpdir do |dir|
  program = File.join(dir, "program.rb")
  File.write(program, PROGRAM)
  %w[redis nats].each do |kind|
    server = Servers.start(kind, dir, password: "hunter2")
    begin
      puts "== #{kind}"
      url = ->(name) { server.url(name, kind == "redis" ? ":hunter2" : "someone:hunter2") }
      file = File.join(dir, "#{kind}.json")
      puts IO.popen([RbConfig.ruby, "--report=#{file}", program, url["squares"]], err: %i[child out], &:read)
      report = JSON.parse(File.read(file))
      remote, local = report["channels"].partition { it["remote"] }
      c = remote.first
      puts "rows #{remote.size}, others #{local.filter_map { it["name"] }}"
      puts "name #{c["name"].sub(server.port.to_s, "PORT")}, sent #{c["sent"]}, received #{c["received"]}, bytes #{c["bytes"] > 100}"
      puts "from #{c["senders"].map { it["name"] }} to #{c["receivers"].map { it["name"] }}"
      puts "receivers waited #{c["receive_wait_s"] > 0.2}, senders #{c["send_wait_s"].between?(0.0001, 5)}"
      puts "main waited to send #{report["groups"].find { it["name"] == "main" }["waits"]["send"].positive?}"
      page = IO.popen([RbConfig.ruby, "--report", program, url["again"]], err: %i[child out], &:read)
      puts page[/^\w+:\/\/\S*again .*$/].sub(server.port.to_s, "PORT").sub(/ \d+ B/, " SIZE").gsub(/[\d.]+ m?s/, "TIME").squeeze(" ")
      # A process that only receives.
      RubyVM::Channel.open(url["elsewhere"]).tap { |sent| 12.times { sent << "x" * 1000 }; sent.close; p sent.stat.values_at(:sent, :received, :sent_bytes, :received_bytes).map { it.clamp(0, 12_000) } }
      receiver = File.join(dir, "receiver.rb")
      File.write(receiver, "channel = RubyVM::Channel.open(ARGV[0]); n = 0; channel.each { n += it.size }; p n, channel.stat[:received_bytes] >= 12_000")
      page = IO.popen([RbConfig.ruby, "--report", "--report=#{file}", receiver, url["elsewhere"]], err: %i[child out], &:read)
      puts page[/\A.*\n.*\n/], page[/^\w+:\/\/\S*elsewhere .*$/].sub(server.port.to_s, "PORT").gsub(/[\d.]+ m?s/, "TIME").squeeze(" ")
      c = JSON.parse(File.read(file))["channels"].find { it["remote"] }
      p c.values_at("sent", "received"), c["bytes"].between?(12_000, 13_000)
      puts "secrets #{(page + File.read(file)).include?("hunter2")}"
    ensure
      server.stop
    end
  end
end
