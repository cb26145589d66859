# Small loops of everyday Ruby, each run by two VMs of one process and by two processes at the same time: what VMs share without need shows as a ratio
# below 1. Both sides run in a fork of the main VM, so that nothing but the sharing differs.
#   loops.rb [NAME...]
# Prints `loops_NAME RATIO` (rounds per second of two VMs over those of two processes, median of 5 pairs) and the geometric mean.

require "set"
require "rbconfig"
require "timeout"

LOOPS = {
  time_now: -> { 2000.times { Time.now.to_f } },
  strftime: -> { t = Time.now; 500.times { t.strftime("%Y-%m-%d %H:%M:%S") } },
  localtime: -> { 500.times { |i| Time.at(i*100000).hour } },
  rand: -> { 3000.times { rand(100) } },
  struct_new: -> { 30.times { Struct.new(:a,:b) } },
  class_new: -> { 60.times { Class.new { def x = 1 } } },
  singleton: -> { 150.times { o = Object.new; def o.x = 1; o.x } },
  define_method: -> { c = Class.new; 200.times { |i| c.define_method("m#{i%10}") { 1 } } },
  eval: -> { 30.times { |i| eval("1+#{i%5}") } },
  evalsame: -> { 100.times { |i| eval("1+1") } },
  regexp_new: -> { 300.times { |i| Regexp.new("a#{i%5}b") } },
  fiber: -> { 200.times { Fiber.new { Fiber.yield 1 }.resume } },
  thread: -> { 50.times { Thread.new { 1 }.join } },
  queue: -> { q = Queue.new; 1500.times { q << 1; q.pop } },
  mutex: -> { m = Mutex.new; 2000.times { m.synchronize { 1 } } },
  channel: -> { c = RubyVM::Channel.new; 1000.times { c << 1; c.recv } },
  marshal: -> { 100.times { Marshal.load(Marshal.dump([1,"a",{b: 2.5}])) } },
  pack: -> { 800.times { [1,2,3].pack("NNn").unpack("NNn") } },
  bignum: -> { x = 3**200; 300.times { (x*x).to_s } },
  float_to_s: -> { 1500.times { |i| (i*1.1).to_s } },
  raise: -> { 300.times { begin; raise "x"; rescue; end } },
  caller: -> { 200.times { caller } },
  catch: -> { 1000.times { catch(:a) { throw :a } } },
  gc: -> { 2.times { GC.start } },
  file_read: -> { 100.times { File.read("/etc/hostname") } },
  devnull: -> { File.open("/dev/null","w") { |f| 500.times { f.write "abc\n"; f.flush } } },
  stat: -> { 300.times { File.exist?("/etc/hostname") } },
  glob: -> { 10.times { Dir.glob("/etc/h*") } },
  require: -> { 200.times { require "set" } },
  strhash: -> { h = {}; 2000.times { |i| h["k#{i}"]=i } },
  symproc: -> { 50.times { (1..50).map(&:to_s) } },
  mm: -> { o = Class.new{ def method_missing(*) = 1 }.new; 1000.times { o.foo } },
  send: -> { 2000.times { |i| i.send("to_s") } },
  ivget: -> { o = Object.new; 1500.times { o.instance_variable_set("@a",1); o.instance_variable_get("@a") } },
  set: -> { require "set"; 100.times { s = Set.new; 20.times { |i| s << i } } },
  encode: -> { 500.times { "äöü".encode("UTF-16LE").encode("UTF-8") } },
  upcase: -> { 2000.times { "straße äöü".upcase } },
  tr: -> { 1500.times { "hello world".tr("a-y","b-z") } },
  scan: -> { 200.times { "a1 b22 c333".scan(/[a-z]\d+/) } },
  matcher: -> { 300.times { "foo bar baz" =~ /(?<=o) (\w+)(?= b)/ } },
  match_md: -> { 500.times { "2020-01-02".match(/(\d+)-(\d+)-(\d+)/)[1] } },
  sort: -> { 60.times { (1..100).to_a.reverse.sort } },
  sort_by: -> { 60.times { (1..100).sort_by { -_1 } } },
  enum_next: -> { 20.times { e = [1,2,3].each; 3.times { e.next } } },
  lazy: -> { 30.times { (1..Float::INFINITY).lazy.map { _1*2 }.first(10) } },
  inspect: -> { 300.times { [1,:a,"b",{c: nil}].inspect } },
  objid: -> { 1000.times { Object.new.object_id } },
  dup: -> { 2000.times { Object.new.dup } },
  freeze: -> { 2000.times { "a#{1}".freeze } },
  dedup: -> { 2000.times { |i| -"abc#{i%10}" } },
  interpsym: -> { 2000.times { |i| :"abc#{i%10}" } },
  proc_new: -> { 2000.times { proc { 1 } .call } },
  method_obj: -> { 1000.times { 1.method(:+).call(2) } },
  rational: -> { 800.times { |i| Rational(i,3)+Rational(1,2) } },
  complex: -> { 500.times { |i| Complex(i,3)*Complex(1,2) } },
  integer_parse: -> { 2000.times { Integer("123") + "45".to_i } },
  bigstr: -> { 20.times { "x"*100_000 } },
  bigarr: -> { 20.times { Array.new(20_000, 1) } },
  each_char: -> { 20.times { ("hello wörld"*10).each_char { } } },
  env: -> { 1000.times { ENV["HOME"] } },
  pid: -> { 1000.times { Process.pid } },
  clock: -> { 2000.times { Process.clock_gettime(Process::CLOCK_MONOTONIC) } },
  pass: -> { 200.times { Thread.pass } },
  timeout: -> { require "timeout"; 50.times { Timeout.timeout(5) { 1 } } },
  instance_eval: -> { 1000.times { 1.instance_eval { self } } },
  refine: -> { 10.times { Module.new { refine(String) { def zz = 1 } } } },
  backtrace: -> { 100.times { begin; raise "x"; rescue => e; e.backtrace.size; end } },
  full_message: -> { 50.times { begin; raise "x"; rescue => e; e.full_message; end } },
  nomethod: -> { 30.times { begin; 1.foo; rescue NoMethodError => e; e.message; end } },
  tracepoint: -> { 5.times { TracePoint.new(:call) {}.enable { 1 } } },
  weakref: -> { w = ObjectSpace::WeakMap.new; 300.times { k = Object.new; w[k]=1 } },
}.freeze

SECONDS = 0.12

def rate(name)
  work = LOOPS.fetch(name)
  clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
  work.call
  start = clock.call
  rounds = 0
  while (took = clock.call - start) < SECONDS
    work.call
    rounds += 1
  end
  rounds / took
end

def forks(name, count) = Array.new(count) { RubyVM.fork(name) { |n| rate(n) } }.sum(&:value)

if ARGV[0] == "--one"
  puts forks(ARGV[1].to_sym, 1)
else
  names = ARGV.empty? ? LOOPS.keys : ARGV.map(&:to_sym)
  ratios = names.map do |name|
    pairs = Array.new(5) do
      processes = Array.new(2) { IO.popen([RbConfig.ruby, __FILE__, "--one", name.to_s]) }.sum { |io| io.read.to_f.tap { io.close } }
      forks(name, 2) / processes
    end
    ratio = pairs.sort[2]
    puts format("loops_%s %.2f", name, ratio)
    $stdout.flush
    ratio
  end
  puts format("loops_mean %.3f", ratios.inject(:*)**(1.0 / ratios.size))
end
