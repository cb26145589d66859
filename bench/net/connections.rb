# An echo server with a thread per connection: COUNT connections (1,000 and 10,000 unless given) from another process, of which first 100 ask while the others are
# idle, then all in turn. Both interpreters serve the same client, run by the `ruby` on the machine.
# connections.rb [COUNT...] prints lines `name value unit`: time to accept one, resident memory per idle connection, native threads, requests per second and
# the server's CPU time per request. Each side needs COUNT descriptors: `ulimit -n`.
require "socket"

CLIENT = <<'RUBY'
require "socket"
port, count = ARGV.map(&:to_i)
$stdout.sync = true
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
all = Array.new(count) { TCPSocket.new("127.0.0.1", port) }
all.each { |c| c.write("ready\n") }
all.each(&:gets)
puts "connected"
# A hundred requests are on their way at a time.
ask = lambda do |some, rounds|
  start = now.call
  rounds.times { some.each_slice(100) { |part| part.each { |c| c.write("hello, world\n") }; part.each { |c| c.gets == "hello, world\n" or abort "wrong answer" } } }
  puts now.call - start
end
while (line = $stdin.gets)
  case line
  when "hot\n" then ask.call(all.first(100), 200)
  when "all\n" then ask.call(all, 20_000 / all.size)
  end
end
RUBY

now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
cpu = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) }
field = ->(name) { File.read("/proc/self/status")[/^#{name}:\s*(\d+)/, 1].to_i }
sizes = ARGV.empty? ? [1_000, 10_000] : ARGV.map(&:to_i)

Process.setrlimit(:NOFILE, Process.getrlimit(:NOFILE)[1])
sizes.each do |count|
  server = TCPServer.new("127.0.0.1", 0)
  server.listen(4096)
  accepting = Thread.new do
    loop do
      Thread.new(server.accept) do |connection|
        while (line = connection.gets)
          connection.write(line)
        end
        connection.close
      end
    end
  end
  GC.start
  before = field.call("VmRSS")
  start = now.call
  IO.popen(["ruby", "-e", CLIENT, server.addr[1].to_s, count.to_s], "r+") do |client|
    client.gets == "connected\n" or abort "the client could not connect"
    puts format("connections_%d_accept %.2f us", count, (now.call - start) * 1e6 / count)
    puts format("connections_%d_resident %.2f KB", count, (field.call("VmRSS") - before).fdiv(count))
    puts format("connections_%d_native_threads %d x", count, field.call("Threads"))
    %w[hot all].each do |kind|
      spent = cpu.call
      client.puts kind
      client.flush
      took = Float(client.gets)
      puts format("connections_%d_%s %.0f req/s", count, kind, 20_000 / took)
      puts format("connections_%d_%s_cpu %.2f us", count, kind, (cpu.call - spent) * 1e6 / 20_000)
    end
  end
  accepting.kill
  server.close
  sleep 0.05 until Thread.list.size == 1
end
