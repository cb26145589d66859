# A page about a running program: who is let in, what it tells, that nobody holds it up; the socket of `zakuro top`.
require "json"
require "socket"
require "tmpdir"
EXE = File.readlink("/proc/self/exe")

PROGRAM = <<'RUBY'
jobs = RubyVM::Channel.new(name: "jobs <b>\"&")
done = RubyVM::Channel.new(name: "done")
workers = 2.times.map { |i| RubyVM.fork(jobs, done, name: "worker#{i}") { |jobs, done| jobs.each { |n| done << n }; nil } }
20.times { jobs << 1; done.recv }
$stdout.puts workers[0].id
$stdout.flush
gets
p workers.map { |w| w.join(0).nil? ? :lives : :ended rescue $!.class }
jobs.close
RUBY

def started(*options, env: {})
  to, input = IO.pipe
  output, from = IO.pipe
  errors, said = IO.pipe
  pid = spawn({ "RUBY_MAX_CPU" => "2" }.merge(env), EXE, *options, "-e", PROGRAM, in: to, out: from, err: said)
  [to, from, said].each(&:close)
  vm = output.gets.to_i
  yield errors, vm, pid
  input.puts
  puts output.read
  Process.wait(pid)
  p $?.exitstatus
end

def ask(port, target, method: "GET", host: "127.0.0.1:#{port}", head: [])
  s = TCPSocket.new("127.0.0.1", port)
  s.write([["#{method} #{target} HTTP/1.1", *("Host: #{host}" if host), *head].join("\r\n"), "\r\n\r\n"].join)
  s.close_write if method == "GET"
  head, content = s.read.split("\r\n\r\n", 2)
  [head[/\d{3}/].to_i, content, head]
ensure
  s&.close
end

Dir.mktmpdir do |dir|
  own = { "XDG_RUNTIME_DIR" => dir }
  puts "-- a page"
  started("--dashboard", env: own) do |errors, vm, pid|
    url = errors.gets
    p url.match?(%r{\Azakuro: dashboard at http://127\.0\.0\.1:\d+/\?token=\h{48}$})
    port, token = url[/:(\d+)\//, 1].to_i, url[/token=(\h+)/, 1]
    ok = "?token=#{token}"
    p ask(port, "/")[0], ask(port, "/?token=#{token.tr("0-9a-f", "1-9a-f0")}")[0], ask(port, "/data?token=")[0]
    p ask(port, "/#{ok}", host: "evil.example:#{port}")[0], ask(port, "/#{ok}", host: nil)[0], ask(port, "/#{ok}", host: "localhost:#{port}")[0]
    p ask(port, "/data#{ok}", head: ["Origin: http://evil.example"])[0], ask(port, "/elsewhere#{ok}")[0], ask(port, "/../../etc/passwd#{ok}")[0]
    p ask(port, "/data#{ok}", method: "POST")[0], ask(port, "/#{ok}", head: ["X: #{"y" * 9000}"])[0], ask(port, "/#{ok}", head: ["X: y"] * 100)[0]
    status, page, head = ask(port, "/#{ok}")
    p status, page.start_with?("<!doctype html>"), page.scan(/(?:src|href)="(?!data:)/), head[/default-src '[a-z]+'/], head[/X-Frame-Options: \w+/]
    status, text, = ask(port, "/data#{ok}")
    data = JSON.parse(text)
    p status, data["pid"] == pid, data["kill"], data["vms"].map { |v| v["name"] }.sort, data["report"]["channels"].map { |c| c["name"] }.sort
    p data["vms"].map { |v| v["state"] }.uniq - %w[run receive descriptor ready vm other], data["memory"].keys, data["report"]["workers"].size
    p ask(port, "/kill#{ok}&vm=#{vm}", method: "POST")[0, 2]

    puts "-- clients that are slow, silent, or many"
    idle = Array.new(60) { TCPSocket.new("127.0.0.1", port) }
    idle.each { |s| s.write("GET /") rescue nil }
    p ask(port, "/data#{ok}")[0]
    p 200.times.map { ask(port, "/data#{ok}")[0] }.tally
    # A page of which nothing is read.
    deaf = Array.new(8) { TCPSocket.new("127.0.0.1", port).tap { |s| s.write("GET /#{ok} HTTP/1.1\r\nHost: 127.0.0.1:#{port}\r\n\r\n") } }
    p ask(port, "/data#{ok}")[0]
    p ask(port, "/", method: "\x01\x02\xff".b)[0]
    (idle + deaf).each(&:close)

    puts "-- the socket"
    path = "#{dir}/zakuro/#{pid}.sock"
    p File.stat("#{dir}/zakuro").mode.to_s(8)
    lines = UNIXSocket.open(path) { |s| s.write("GET /lines HTTP/1.1\r\n\r\n"); s.read }.split("\r\n\r\n", 2)[1].lines(chomp: true)
    p lines.map { |l| l.split("\t")[0] }.tally.slice("process", "vm", "channel"), lines.grep(/^vm/).map { |l| l.split("\t")[2] }.sort
  end
  p Dir.children("#{dir}/zakuro")

  puts "-- with the right to end VMs"
  started("--dashboard-kill", env: own) do |errors, vm, _|
    url = errors.gets
    port, ok = url[/:(\d+)\//, 1].to_i, "?token=#{url[/token=(\h+)/, 1]}"
    p ask(port, "/kill#{ok}&vm=#{vm}")[0], ask(port, "/kill#{ok}&vm=x", method: "POST")[0], ask(port, "/kill?vm=#{vm}", method: "POST")[0]
    p ask(port, "/kill#{ok}&vm=1", method: "POST")[0, 2], ask(port, "/kill#{ok}&vm=999999", method: "POST")[0]
    p ask(port, "/kill#{ok}&vm=#{vm}", method: "POST")[0, 2]
    sleep 0.01 until JSON.parse(ask(port, "/data#{ok}")[1])["living"] == 2
  end

  puts "-- only the socket"
  started("--top", env: own) { |_, _, pid| p File.socket?("#{dir}/zakuro/#{pid}.sock") }
  File.chmod(0o755, "#{dir}/zakuro")
  r, w = IO.pipe
  pid = spawn(own, EXE, "--top", "-e", "p 1", out: w, err: w)
  w.close
  puts r.read.sub(dir, "DIR")
  Process.wait(pid)
  p $?.exitstatus

  puts "-- many names: what a page shows, and how much there is besides"
  many = 'c = RubyVM::Channel.new(name: "jobs"); 400.times { |i| RubyVM.new("v#{i}x", "-e", "RubyVM::ARGV[0].recv").start(c) }; 60.times { |i| RubyVM::Channel.new(name: "c#{i}x") << 1 }; sleep 0.2; $stdout.puts; $stdout.flush; gets'
  input, output, errors = Array.new(3) { IO.pipe }
  pid = spawn(own, EXE, "--dashboard", "-e", many, in: input[0], out: output[1], err: errors[1])
  output[0].gets
  port, token = errors[0].gets.match(/:(\d+)\/\?token=(\h+)/).captures
  report = JSON.parse(ask(port.to_i, "/data?token=#{token}")[1])["report"]
  p report["groups"].size, report["groups"].sum { |g| g["vms"] } + report["left_out"]["vms"], report["left_out"]["groups"], report["channels"].size + report["left_out"]["channels"]
  p report["channels"].find { |c| c["name"] == "jobs" }.then { |c| [c["receivers"].size, c["more_receivers"], c.key?("more_senders")] }
  input[1].puts
  Process.wait(pid)
end
puts "-- a child by fork(2) has neither"
r, w = IO.pipe
errors, said = IO.pipe
pid = spawn(EXE, "--dashboard", "-e", "fork { puts Process.pid; $stdout.flush; sleep 60 }", out: w, err: said)
[w, said].each(&:close)
port, child = errors.gets[/:(\d+)\//, 1].to_i, r.gets.to_i
Process.wait(pid)
TCPServer.open("127.0.0.1", port) { |s| p s.addr[1] == port }
p Process.kill(:KILL, child)
r, w = IO.pipe
pid = spawn(EXE, "--dashboard=99999", "-e", "p 1", err: w)
w.close
puts r.read
Process.wait(pid)
