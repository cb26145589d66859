# Reports, profiles and timelines in files, and what is said when they can't be written.
require "json"
require "tmpdir"
EXE = File.readlink("/proc/self/exe")

PROGRAM = <<'RUBY'
def leaf(n) = (1..n).sum { |i| i.to_s.size }
def branch(n) = leaf(n) + leaf(n)
jobs = RubyVM::Channel.new(name: "jobs \"quoted\"")
done = RubyVM::Channel.new(name: "done")
workers = 2.times.map do |i|
  RubyVM.fork(jobs, done, name: "worker#{i}") { |jobs, done| jobs.each { |n| done << branch(n) } }
end
30.times { jobs << 5_000 }
jobs.close
30.times { done.recv }
GC.start
workers.each(&:join)
RUBY

def run(*options, program: PROGRAM)
  r, w = IO.pipe
  pid = spawn({ "RUBY_MAX_CPU" => "2" }, EXE, *options, "-e", program, out: w, err: w)
  w.close
  said = r.read
  Process.wait(pid)
  [said, $?.exitstatus]
end

Dir.mktmpdir do |dir|
  puts "-- report"
  p run("--report=#{dir}/r.json")
  r = JSON.parse(File.read("#{dir}/r.json"))
  p r.keys, r["version"], r["groups"].map { |g| g["name"] }.sort, r["groups"].sum { |g| g["vms"] }
  p r["channels"].map { |c| [c["name"], c["sent"], c["received"], c["senders"].map { |s| s["name"] }] }.sort
  p r["bottleneck"].keys, r["cores"].keys
  run("--report=#{dir}/r.txt")
  puts File.read("#{dir}/r.txt").lines.grep(/^bottleneck/).size
  said, = run("--report", program: "exit 3")
  puts said.lines.grep(/^(zakuro report|bottleneck)/).size

  puts "-- profile"
  p run("--profile", "#{dir}/p.txt")
  stacks = File.readlines("#{dir}/p.txt", chomp: true)
  p stacks.all? { |l| l.match?(/\A\S.* \d+\z/) }, stacks.any? { |l| l.start_with?("worker;") && l.include?("Object#branch") && l.include?("Object#leaf") }
  # Names are the program's: a terminal that shows them does nothing else.
  odd = 'RubyVM.new("x\e[2J\0;y", "-e", "300_000.times { |i| i.to_s }").start.join'
  p run("--profile", "#{dir}/odd.txt", program: odd), File.read("#{dir}/odd.txt").match?(/[\0-\t\e]/), File.read("#{dir}/odd.txt").match?(/^x\u{fffd}\[2J\u{fffd}:y;/)
  run("--profile=#{dir}/p.json")
  f = JSON.parse(File.read("#{dir}/p.json"))
  t = f["threads"].find { |t| t["name"].start_with?("worker") }
  samples, nodes = t["samples"], t["stackTable"]
  p samples.values_at("stack", "time", "weight").map(&:size).uniq == [samples["length"]], samples["stack"].max < nodes["length"]
  p nodes["frame"].max < t["frameTable"]["length"], t["frameTable"]["func"].max < t["funcTable"]["length"], t["funcTable"]["name"].max < t["stringArray"].size
  run("--profile=#{dir}/p.svg")
  svg = File.read("#{dir}/p.svg")
  p svg.start_with?("<svg "), svg.end_with?("</svg>\n"), svg.include?("Object#leaf"), svg.scan(/<g /).size == svg.scan("</g>").size

  puts "-- several of one kind"
  p run("--report", "--report=#{dir}/a.json", "--report=#{dir}/a.txt", "--report", program: "1").first.scan(/^zakuro report/).size
  p JSON.parse(File.read("#{dir}/a.json"))["version"], File.read("#{dir}/a.txt").include?("bottleneck [")
  p run("--profile", "#{dir}/a.svg", "--profile=#{dir}/b.folded", "--trace", "#{dir}/a.trace", "--trace=#{dir}/b.trace")
  p File.read("#{dir}/a.svg")[0, 5], File.readlines("#{dir}/b.folded").any?, *%w[a b].map { |name| JSON.parse(File.read("#{dir}/#{name}.trace"))["traceEvents"].any? }
  p run("--profile=alloc", "#{dir}/a.txt", "--profile", "#{dir}/b.txt"), run("--report=#{dir}/a.txt", "--profile", "#{dir}/a.txt").map { |said| said.to_s.sub(dir, "DIR") }
  # Both from the same moment on: what the process used before it began to count does not count.
  said, = run("--report=#{dir}/short.json", program: "1")
  short = JSON.parse(File.read("#{dir}/short.json"))
  p said, short["cpu_s"] <= short["wall_s"] * 3 + 0.01

  puts "-- trace"
  p run("--trace", "#{dir}/t.json")
  events = JSON.parse(File.read("#{dir}/t.json"))["traceEvents"]
  p events.all? { |e| e["ph"] == "M" || e["ts"] >= 0 && e.fetch("dur", 0) >= 0 }
  sent, arrived = %w[s f].map { |ph| events.select { |e| e["ph"] == ph }.to_h { |e| [e["id"], e] } }
  p sent.size, sent.keys.sort == arrived.keys.sort, sent.all? { |id, e| e["ts"] <= arrived[id]["ts"] && e["pid"] != arrived[id]["pid"] }
  p events.map { |e| e["name"] }.uniq.select { |n| %w[run collect image].include?(n) || n == "wait: receive done" }.sort
  p events.select { |e| e["name"] == "process_name" }.map { |e| e["args"]["name"] }.sort.first(2)
  # VMs that run on while it is written: nothing reaches beyond its end, what is done in a turn not beyond that.
  ["", "; exit!(3)"].each do |ending|
    many = '20.times { |i| RubyVM.new("k#{i}", "-e", "c = RubyVM::Channel.new; Thread.new { c.recv }; loop { eval(%q(1 + 1)); GC.start }").start }; sleep 0.04'
    p run("--trace", "#{dir}/on.json", program: many + ending)
    events = JSON.parse(File.read("#{dir}/on.json"))["traceEvents"]
    runs = events.select { |e| e["name"] == "run" && e["cat"] == "run" }.group_by { |e| e["pid"] }
    p events.count { |e| e.fetch("dur", 0) < 0 }
    p events.select { |e| e["name"] == "collect" }.count { |e| runs[e["pid"]].none? { |r| r["ts"] <= e["ts"] + 0.002 && e["ts"] + e["dur"] <= r["ts"] + r["dur"] + 0.002 } }
  end
  # Short windows beside busy VMs: arrows have both ends.
  puts run("--account", program: <<~'RUBY')
    require "json"
    c = RubyVM::Channel.new
    3.times { |i| RubyVM.new("v#{i}", "-e", "RubyVM::ARGV[0].each { |x| s = 0; 3000.times { |k| s += k } }").start(c) }
    Thread.new { loop { 20.times { c << [1] }; sleep 0.001 } }
    wrong = 40.times.count do
      e = JSON.parse(RubyVM.trace(0.01))["traceEvents"]
      ids = %w[s f].map { |ph| e.select { |x| x["ph"] == ph }.map { |x| x["id"] }.sort }
      ids[0] != ids[1] || e.any? { |x| x.fetch("dur", 0) < 0 || x.fetch("ts", 0) < 0 }
    end
    p wrong
    exit!
  RUBY
  traced, = run("--account", program: <<~'RUBY')
    require "json"
    v = RubyVM.fork(name: "busy") { loop { 100.times.to_a } }
    e = JSON.parse(RubyVM.trace(0.05))["traceEvents"]
    p e.any? { |e| e["name"] == "run" && e["dur"] > 0 }
    v.kill
  RUBY
  puts traced
  # A turn that goes on is there, from its beginning on.
  puts run("--account", program: <<~'RUBY')
    require "json"
    RubyVM.fork(name: "busy") { loop {} }
    sleep 0.2
    parts = JSON.parse(RubyVM.report(format: :json))["timeline"]["active"]
    p parts.last(parts.size / 2).all? { |n| n > 0.5 }
    exit!
  RUBY

  puts "-- pipes"
  # They stay open until the program's end, and nothing is read from them.
  said, status = run("--report=/dev/stdout", program: "p 1")
  p said.lines.grep(/^(1$|bottleneck)/).size, status
  p run("--account", program: "1").last, spawn({ "ZAKURO_REPORT" => "/dev/stdout" }, EXE, "-e", "p 2", out: "#{dir}/out").then { |pid| Process.wait(pid); File.readlines("#{dir}/out").grep(/^(2$|bottleneck)/).size }
  # One that does not block, and is read late.
  require "io/nonblock"
  r, w = IO.pipe
  w.nonblock = true
  pid = spawn(EXE, "--trace", "/dev/fd/#{w.fileno}", "-e", "c = RubyVM::Channel.new(1); RubyVM.fork(c) { |c| c.each { } }.then { |vm| 2000.times { c << 1 }; c.close; vm.join }", w => w, out: File::NULL)
  w.close
  sleep 0.5
  p JSON.parse(r.read).key?("traceEvents"), Process.wait2(pid)[1].exitstatus
  %w[--report --trace --profile].each do |option|
    File.mkfifo(fifo = "#{dir}/#{option}.svg")
    reader = Thread.new { File.read(fifo) }
    # A child of the program does not keep who reads from the end.
    p run(option == "--report" ? "#{option}=#{fifo}" : option, *(fifo unless option == "--report"), program: "fork { sleep 30 }.then { |pid| at_exit { $stdout.flush; Process.kill(:KILL, pid) } }"), reader.value.size > 100
  end
  p run("--report=/dev/stdin", program: "1")

  puts "-- what can't be written"
  p run("--profile=#{dir}/p.png").then { |said, status| [said.sub(dir, ""), status] }
  p run("--trace=#{dir}/none/t.json").then { |said, status| [said.sub(dir, ""), status] }
  p run("--report=#{dir}").then { |said, status| [said.sub(dir, ""), status] }
  # Programs where names of files should stand.
  { "p.rb" => "puts 1", "script" => "#!/usr/bin/env ruby\nputs 1" }.each do |name, text|
    File.write("#{dir}/#{name}", text)
    p run("--trace", "#{dir}/#{name}").then { |said, status| [said.sub(dir, ""), status] }, run("--report=#{dir}/#{name}").then { |said, status| [said.sub(dir, ""), status] }
    p File.read("#{dir}/#{name}") == text
  end
  # It can be opened, and then there is no room. The program's own status goes before.
  %w[--report --trace].each { |option| p run("#{option}=/dev/full", program: "1"), run("#{option}=/dev/full", program: "exit 7") }
  File.symlink("/dev/full", "#{dir}/full.svg")
  p run("--profile=#{dir}/full.svg", program: "1").then { |said, status| [said.sub(dir, ""), status] }
  p run("--report=/dev/full", "--trace=#{dir}/after.json", program: "exit!"), JSON.parse(File.read("#{dir}/after.json")).key?("traceEvents")
  p system(EXE, "--report", "-e", "1", err: "/dev/full")
end
# Needs the standard library.
