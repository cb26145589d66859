# kills.rb [COUNT [SEED]]: VMs that wait in one of many ways are killed at random moments, without grace, and all of them end; descriptors and memory of the process stay what they were.
# Prints a line per kind and what was left over; status 1 when something was.
require "socket"
require "tmpdir"

COUNT = (ARGV[0] || 2000).to_i
SEED = (ARGV[1] || Random.new_seed % 100_000).to_i
RANDOM = Random.new(SEED)
DIR = Dir.mktmpdir
FIFO = File.join(DIR, "fifo").tap { File.mkfifo(_1) }
LOCKED = File.open(File.join(DIR, "lock"), "w").tap { _1.flock(File::LOCK_EX) }
NOBODY = RubyVM::Channel.new
FULL = RubyVM::Channel.new(1).tap { _1 << 1 }
SERVER = TCPServer.new("127.0.0.1", 0)
PORT = SERVER.addr[1]
Thread.new { loop { s = SERVER.accept; Thread.new { s.read rescue nil; s.close rescue nil } } }

WAITS = {
  "sleep" => -> { loop { sleep rand * 0.002 } },
  "queue" => -> { q = Queue.new; Thread.new { loop { q << 1; Thread.pass } }; loop { q.pop } },
  "sized queue" => -> { q = SizedQueue.new(1); Thread.new { loop { q.pop } }; loop { q << 1 } },
  "mutex" => -> { m = Mutex.new; 3.times { Thread.new { loop { m.synchronize { Thread.pass } } } }; loop { m.synchronize { sleep 0.0001 } } },
  "condition" => -> { m = Mutex.new; c = ConditionVariable.new; Thread.new { loop { m.synchronize { c.signal } } }; loop { m.synchronize { c.wait(m, 0.001) } } },
  "monitor" => -> { require "monitor"; m = Monitor.new; c = m.new_cond; Thread.new { loop { m.synchronize { c.broadcast } } }; loop { m.synchronize { c.wait(0.001) } } },
  "join" => -> { loop { Thread.new { sleep 0.0005 }.join } },
  "receive" => -> { NOBODY.recv },
  "receive in time" => -> { loop { NOBODY.recv(timeout: 0.0005) } },
  "send to a full channel" => -> { loop { FULL.send(1, timeout: 0.001) } },
  "ping-pong" => -> { a, b = RubyVM::Channel.new, RubyVM::Channel.new; RubyVM.fork(a, b) { |a, b| while (x = a.recv) do b << x end }; loop { a << 1; b.recv } },
  "select" => -> { loop { RubyVM.select(NOBODY, RubyVM::Channel.new, timeout: 0.001) } },
  "join a VM" => -> { loop { RubyVM.fork { sleep 0.001 }.join } },
  "ractor" => -> { loop { Ractor.new { Ractor.receive }.send(1) } },
  "pipe" => -> { loop { r, w = IO.pipe; Thread.new { sleep 0.0005; w << "x"; w.close }; r.read; r.close } },
  "full pipe" => -> { _r, w = IO.pipe; w << "x" * 1_000_000 },
  "IO.select" => -> { r, _w = IO.pipe; loop { IO.select([r], nil, nil, 0.001) } },
  "socket" => -> { loop { s = TCPSocket.new("127.0.0.1", PORT); s << "x" * 1000; s.close } },
  "socket pair" => -> { a, b = UNIXSocket.pair; Thread.new { loop { b << b.readpartial(10) } }; loop { a << "x"; a.readpartial(10) } },
  "accept" => -> { TCPServer.new("127.0.0.1", 0).accept },
  "child process" => -> { loop { system("exit 3") } },
  "child's output" => -> { IO.popen("sleep 0.01; echo x", &:read) while true },
  "FIFO" => -> { loop { File.open(FIFO) { |f| f.read } } },
  "flock" => -> { File.open(File.join(DIR, "lock"), "w") { |f| f.flock(File::LOCK_EX) } },
  "require" => -> { loop { load File.join(DIR, "empty.rb") } },
  "timeout" => -> { require "timeout"; loop { Timeout.timeout(0.001) { sleep } rescue 0 } },
  "fibers" => -> { loop { Fiber.new { 3.times { sleep 0.0002; Fiber.yield } }.tap { |f| 4.times { f.resume } } } },
  "eval" => -> { loop { eval("a = 1\n" * 300) } },
  "collection" => -> { loop { Array.new(2000) { "x" * 50 }; GC.start } },
  "regexp" => -> { loop { ("a" * 2000).rindex(/(a+)+b/) } },
  "big numbers" => -> { loop { (3**20_000).to_s } },
  "messages" => -> { c = RubyVM::Channel.new(10); RubyVM.fork(c) { |c| loop { c.recv } }; loop { c << { a: [1, "x" * 5000], f: File.open(__FILE__) } } },
}
File.write(File.join(DIR, "empty.rb"), "")

def look
  GC.start
  sleep 0.5
  [Dir.children("/proc/self/fd").size, File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i, RubyVM.list.size]
end

$stderr.reopen(File::NULL)
late = Hash.new(0)
round = lambda do |count|
  count.times do |i|
    name, work = WAITS.to_a[i % WAITS.size]
    vm = RubyVM.fork(name, work) { |_, work| Thread.report_on_exception = false; work.call }
    sleep RANDOM.rand * 0.006
    vm.kill(grace: 0)
    late[name] += 1 unless Thread.new { vm.join rescue 1 }.join(20)
    RubyVM.list.each { |v| v.kill(grace: 0) if v != RubyVM.current } if i % 50 == 49
  end
  RubyVM.list.each { |v| v.kill(grace: 0) if v != RubyVM.current }
end
round.(WAITS.size * 20)
before = look
round.(COUNT)
after = look
$stdout.puts "seed #{SEED}: #{COUNT} kills in #{WAITS.size} kinds of waits and work, #{late.values.sum} late #{late.inspect if late.any?}"
$stdout.puts "descriptors #{before[0]} -> #{after[0]}, resident #{before[1] / 1024} -> #{after[1] / 1024} MB, VMs #{after[2]}"
good = late.empty? && after[0] <= before[0] + 2 && after[1] - before[1] < 40_000 && after[2] == 1
require "fileutils"
FileUtils.rm_rf(DIR)
exit good
