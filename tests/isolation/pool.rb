# RubyVM::Pool: results, errors, ends of VMs, order, back-pressure, set-up, powers.
def show(label)
  value = yield
  puts "#{label}: #{value.inspect}"
rescue Exception => e
  puts "#{label}: #{e.class}: #{e.message}#{" <- #{e.cause.class}: #{e.cause.message}" if e.cause}"
end

Point = Struct.new(:x, :y)
FACTOR = 3
MANY = ENV["ZAKURO_TEST_SCALE"] == "small" ? 1000 : 20_000

RubyVM::Pool.open(size: 2, name: "p") do |pool|
  show("map") { pool.map([1, 2, 3]) { |n| n * FACTOR } }
  show("map, nothing") { pool.map([]) { |n| n } }
  show("map, nil and false") { pool.map([nil, false]) { |n| n } }
  show("map, as ready") { pool.map(1..50, ordered: false) { |n| n * n }.sort == (1..50).map { _1 * _1 } }
  show("map, many") { pool.map(0...MANY) { |n| n + 1 } == (1..MANY).to_a }
  show("map, pairs") { pool.map({ a: 1, b: 2 }) { |name, n| "#{name}#{n}" } }
  show("map, with index") { pool.map(%w[a b].each_with_index) { |text, i| text * (i + 1) } }
  show("map, objects") { pool.map([Point.new(1, 2)]) { |p| Point.new(p.y, p.x) } }
  show("map, a method") { pool.map(%w[b a], &:upcase) }
  show("map, a captured variable") { n = 10; pool.map([1, 2]) { |i| n += i }.size }
  show("each") { pool.each([3, 4]) { |n| Mutex.new } }
  show("stream, endless") { pool.stream(1.step) { |n| n * n }.first(5) }
  show("stream, twice") { e = pool.stream([1, 2]) { |n| -n }; [e.to_a, e.to_a, e.next] }
  show("submit") { pool.submit("a", 3) { |text, n| text * n }.value }
  show("submit, many") { Array.new(MANY / 20) { |i| pool.submit(i) { |n| n + 1 } }.sum(&:value) == (1..MANY / 20).sum }
  show("future") { f = pool.submit { sleep 0.1 }; [f.ready?, f.wait(0.01), f.value(0.01), f.error, f.cancel, f.inspect] }
  terminal = Class.new { attr_reader :text; def tty? = true; def flush = self; def write(*) = 0; def print(text) = (@text = "#{@text}#{text}") }.new
  $stderr, errors = terminal, $stderr
  show("progress") { pool.map([1, 2, 3], progress: "work") { |n| n }; terminal.text.split("\r").last[/\Awork \[#+\] +100% 3\/3 [\d.]+\/s/].sub(/#+/, "###").sub(/ [\d.]+\/s/, "") }
  $stderr = errors
end

puts "== errors"
pool = RubyVM::Pool.new(size: 2, name: "q", grace: 0.1)
show("raise") { pool.map([1, 0, 2]) { |n| 6 / n } }
show("the first one") { pool.map(0...100) { |n| n >= 40 ? raise("no #{n}") : n } rescue $!.index >= 40 }
show("all") { pool.map([1, 0, 2], errors: :return) { |n| 6 / n } }
show("each, all") { pool.each([1, 0, 2, 0], errors: :return) { |n| 6 / n }.map(&:index).sort }
show("stream") { pool.stream([1, 0]) { |n| 6 / n }.each { |n| print n, " " } }
show("where") { pool.map([0]) { |n| 6 / n } rescue [$!.vm[/\Aq-[01]\z/] && :vm, $!.index, $!.kind, $!.cause.backtrace[0][/\w+\.rb:\d+/], $!.backtrace.grep(/pool.rb/).size > 0] }
show("value") { pool.submit { raise KeyError, "x" }.value }
show("error") { f = pool.submit { raise KeyError, "x" }.wait; [f.error.class, f.error.cause.class, f.inspect] }
show("exit") { pool.map([1]) { exit 3 } }
show("exit!") { pool.map([1]) { exit! 3 } }
show("Thread.exit") { pool.map([1]) { Thread.exit } }
show("kill") { pool.map([1]) { RubyVM.current.kill(grace: 0); sleep } }
show("timeout") { pool.map([1, 2], timeout: 0.05, errors: :return) { |n| n == 1 ? sleep : n } }
show("timeout of a loop") { pool.submit(timeout: 0.05) { loop {} }.value }
show("timeout, ensure") { pool.submit(timeout: 0.05) { begin; sleep; ensure; loop {}; end }.value }
show("stack") { pool.map([1]) { |n| f = ->(x) { f.(x) + 1 }; f.(1) } rescue [$!.kind, $!.cause.class] }
show("throw, break") { pool.map([1, 2], errors: :return) { |n| n == 1 ? throw(:a) : n } }
show("retry") do
  c = RubyVM::Channel.new
  [pool.map([5], retry: 2) { |n| c << 1; c.size < 3 ? raise("again") : n }, c.size]
end
show("retry, exit") { c = RubyVM::Channel.new; [pool.submit(retry: 1) { c << 1; c.size < 2 ? exit!(1) : :done }.value, c.size] }
show("retry, in vain") { c = RubyVM::Channel.new; [(pool.map([5], retry: 2) { |n| c << 1; raise "again" } rescue $!.message), c.size] }
show("goes on") { pool.map(1..4) { |n| n } }
show("restarts") { pool.report.restarts }

puts "== what can't be sent"
lock = Mutex.new
show("block") { pool.map([1]) { lock.lock } }
show("object") { pool.map([1, [lock], 3], errors: :return) { |n| n } }
show("argument") { pool.submit(lock) { |n| n }.value }
show("result") { pool.map([1]) { [Mutex.new] } }
class Late; end
show("class made later") { pool.map([Late.new, 1], errors: :return) { |n| n }.map(&:class) }
show("class made later, block") { l = Late.new; pool.map([1]) { |n| l } }
show("class made there") { pool.map([1, 2], errors: :return) { |n| n == 1 ? Object.const_set(:There, Class.new).new : n } rescue $!.message }
class There2Error < StandardError; end
show("exception made there") { pool.map([1]) { raise Object.const_set(:ThereError, Class.new(StandardError)), "from there" } }
show("self that holds the pool") do
  o = Class.new { def initialize(pool) = @pool = pool; def twice(n) = n * 2; def go = @pool.map([1, 2]) { |n| twice(n) } }
  Object.const_set(:Go, o)
  RubyVM::Pool.open(size: 1) { |inner| o.new(inner).go }
end
show("goes on") { pool.map(1..4) { |n| n } }

puts "== set-up"
RubyVM::Pool.open(size: 2, setup: -> { $log = [RubyVM::Pool.index]; { n: 5 } }) do |set|
  show("local") { set.map([1, 2, 3]) { |n| RubyVM::Pool.local[:n] * n } }
  show("once") { set.map(0...100) { $log.size }.uniq }
  show("index") { (set.map(0...100) { RubyVM::Pool.index } - [0, 1]).empty? }
  show("again after an end") { (set.map([1]) { exit! } rescue 0); set.map([1]) { RubyVM::Pool.local } }
end
show("fails") { RubyVM::Pool.open(size: 2, name: "f", setup: -> { raise IOError, "no disk" }) { |set| set.map([1]) { 1 } } }
show("ends") { RubyVM::Pool.open(size: 1, name: "f", setup: -> { exit! 2 }) { |set| set.submit { 1 }.value } }
image = RubyVM::Image.capture
FACTOR2 = 7
show("image") { RubyVM::Pool.open(size: 1, image:) { |set| set.map([2]) { |n| defined?(FACTOR2) ? 0 : n * FACTOR } } }
require "tmpdir"
Dir.mktmpdir do |dir|
  path = File.join(dir, "jobs.rb")
  File.write(path, "module Jobs\n  def self.work(n) = n * 100\nend\ndef helper(n) = n + 1\n")
  show("file") { RubyVM::Pool.open(size: 2, file: path) { |set| set.map([1, 2]) { |n| Jobs.work(helper(n)) } } }
  show("file, no class of ours") { RubyVM::Pool.open(size: 1, file: path) { |set| set.map([1]) { defined?(Point).inspect } } }
end
show("file, missing") { RubyVM::Pool.new(file: "/nowhere/x.rb") }

puts "== limits"
RubyVM::Pool.open(size: 1, memory_limit: 30_000_000) do |set|
  show("memory") { set.map([1, 2], errors: :return) { |n| n == 1 ? (a = []; loop { a << "x" * 100_000 }) : n }.map { |r| r.is_a?(Integer) ? r : [r.class, r.cause.class] } }
end
RubyVM::Pool.open(size: 1, cpu_limit: 0.3, grace: 0.05) { |set| show("CPU") { set.map([1, 2], errors: :return) { |n| n == 1 ? loop {} : n }.map { |r| r.is_a?(Integer) ? r : r.class } } }

puts "== back-pressure"
taken = 0
source = Enumerator.new { |y| loop { y << (taken += 1) } }
pool.stream(source, ahead: 10) { |n| n }.each { |n| break if n == 100 }
puts "taken ahead: #{taken - 100 <= 10}"
gate = RubyVM::Channel.new
taken = 0
e = pool.stream(source, ahead: 20) { |n| gate.recv if n == 1; n }
waiting = Thread.new { e.first(30) }
sleep 0.2
puts "while the first one waits: #{taken <= 20}"
gate << 1
p waiting.value == (1..30).to_a

puts "== ends"
show("unknown") { RubyVM::Pool.new(sizes: 1) }
show("size") { RubyVM::Pool.new(size: 0) }
show("no block") { pool.map([1]) }
show("no each") { pool.map(5) { 1 } }
show("errors:") { pool.map([1], errors: :ignore) { 1 } }
show("timeout:") { pool.map([1], timeout: -1) { 1 } }
show("dup") { pool.dup }
show("in another VM") { RubyVM.fork(pool) { |q| [q.inspect, (q.map([1]) { 1 } rescue $!.message)] }.value }
f = pool.submit { 1 }
show("close") { [pool.close.inspect, f.value, pool.closed?, pool.close.equal?(pool)] }
show("closed") { pool.map([1]) { 1 } }
show("busy with what took too long") do
  late = RubyVM::Pool.new(size: 2, job_timeout: 0.3, grace: 0)
  late.map(0...4, errors: :return) { sleep }
  report = late.report
  [report.busy.map { |share| share > 0.5 }, report.time[:max] > 0.25, report.time[:min] > 0.25].tap { late.shutdown }
end
show("set-up that fails, in its report") { r = RubyVM::Pool.new(size: 1, name: "t") { raise KeyError, "none" }; [(r.submit { 1 }.value rescue $!.message), r.report.hint, r.report.to_s.lines.last] }
# A job that waits for its VM's turn takes no time: no more VMs end than jobs were begun.
show("no time at all") do
  hasty = RubyVM::Pool.new(size: 2, grace: 0)
  slow = hasty.map(0...5, timeout: 1e-9, retry: 1, errors: :return) { sleep }.map(&:class).uniq
  before = hasty.report
  quick = hasty.map(0...15, timeout: 1e-9, errors: :return) { |n| n }.size
  after = hasty.tap(&:shutdown).report
  [slow, before.timeouts, before.restarts <= 15, quick, after.restarts - before.restarts <= 15]
end
show("its report") { r = pool.report; [r.jobs > 100, r.errors > 10, r.time[:min] <= r.time[:median], r.busy.size] }
other = RubyVM::Pool.new(size: 1, name: "s", grace: 0)
f = other.submit { sleep }
g = other.submit { 1 }
show("shutdown") { other.shutdown; [f.error.class, (g.value rescue $!.message)] }
show("block that raises") { RubyVM::Pool.open(size: 1) { |set| set.submit { sleep }; raise "out" } }
# An owner that is killed takes its VMs along, busy or not.
ready = RubyVM::Channel.new
owner = RubyVM.fork(ready) do |ready|
  own = RubyVM::Pool.new(size: 2, name: "own")
  own.submit { ready << 1; loop {} }
  own.submit { ready << 1; sleep }
  sleep
end
2.times { ready.recv }
puts RubyVM.list.count { |vm| vm.name.start_with?("own-") }
owner.kill(grace: 0)
sleep 0.01 while RubyVM.list.any? { |vm| vm.name.start_with?("own-") }
puts "owner killed: #{RubyVM.list.size} VM"
p RubyVM::Pool::Processors.cores.positive?, RubyVM::Pool::Processors.count[:physical] <= RubyVM::Pool::Processors.count[:logical]

puts "== zakuro/parallel"
show("not there") { [1].parallel_map { 1 } }
require "zakuro/parallel"
show("map") { %w[a b].parallel_map(size: 2) { |text| text * FACTOR } }
show("each") { [1].parallel_each(size: 1) { 2 } }
show("select, reject") { [(1..6).parallel_select(size: 2, &:even?), (1..6).parallel_reject(size: 2, &:even?)] }
show("filter_map, flat_map, sum") { [[1, 2].parallel_filter_map(size: 1) { |n| n if n > 1 }, [1, 2].parallel_flat_map(size: 1) { |n| [n] * n }, [1, 2].parallel_sum(size: 1) { |n| n * n }] }
show("error") { [0].parallel_map(size: 1, retry: 1) { |n| 1 / n } }
eval "module Now; def self.f(n) = n + 1; end"
show("what is there now") { [1].parallel_map(size: 1) { |n| Now.f(n) } }
show("no room for all") { RubyVM.fork(thread_limit: 2) { (RubyVM::Pool.new(size: 2) rescue [$!.class, (sleep 0.01 while RubyVM.list.size > 1), RubyVM.list.size]) }.value }
puts "== close"
slow = RubyVM::Pool.new(size: 2, name: "c")
going = Thread.new { slow.map(Enumerator.new { |y| 3.times { |i| sleep 0.02; y << i } }) { |n| n } }
sleep 0.03
slow.close
p going.value
slow = RubyVM::Pool.new(size: 2, name: "c")
e = slow.stream(1.step) { |n| n }
p e.next
slow.close
show("the rest of a stream") { loop { e.next } }
