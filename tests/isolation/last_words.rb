# Without --gc=stress. Programs that try to go on after their end: in `ensure`, `rescue`, traps, `at_exit`, finalizers, hooks, conversions, other threads, fibers and VMs.
# Each is killed without grace, killed with a little, and runs into a wall limit; all of them are over soon after.
require "tmpdir"
DIR = Dir.mktmpdir
BOUND = 15
PROGRAMS = {
  "ensure loop" => "begin; sleep; ensure; loop {}; end",
  "ensure sleep" => "begin; sleep; ensure; sleep; end",
  "ensure retry" => "begin; sleep; rescue Exception; retry; ensure; sleep; end",
  "rescue Exception loop" => "loop { begin; sleep; rescue Exception; end }",
  "ensure fork" => "begin; sleep; ensure; RubyVM.fork { sleep }.join; end",
  "ensure thread" => "begin; sleep; ensure; Thread.new { loop {} }.join; end",
  "ensure fiber" => "begin; sleep; ensure; Fiber.new { loop {} }.resume; end",
  "ensure catch" => "begin; sleep; ensure; catch { |t| loop {} }; end",
  "ensure throw" => "catch(:a) { begin; sleep; ensure; throw :a; end }; loop {}",
  "ensure break" => "loop { begin; sleep; ensure; break; end }; loop {}",
  "ensure return" => "def m; sleep; ensure; return 1; end; loop { m }",
  "ensure next" => "loop { begin; sleep; ensure; next; end }",
  "at_exit loop" => "at_exit { loop {} }; sleep",
  "at_exit at_exit" => "P = -> { at_exit(&P); sleep 0.01 }; at_exit(&P); sleep",
  "at_exit sleep" => "at_exit { sleep }; exit",
  "trap TERM" => "trap(:TERM) { }; trap(:INT) { }; trap(:EXIT) { loop {} }; sleep",
  "trap EXIT sleep" => "trap(:EXIT) { sleep }; sleep",
  "in trap" => "trap(:USR1) { loop {} }; Process.kill(:USR1, $$); sleep",
  "in trap sleep" => "trap(:USR1) { sleep }; Process.kill(:USR1, $$); sleep",
  "in trap ensure" => "trap(:USR1) { begin; sleep; ensure; loop {}; end }; Process.kill(:USR1, $$); sleep",
  "finalizer loop" => "ObjectSpace.define_finalizer(Object.new, proc { loop {} }); 10.times { GC.start }; sleep",
  "finalizer at end" => "X = Object.new; ObjectSpace.define_finalizer(X, proc { loop {} }); exit",
  "finalizer resurrects" => "P = proc { ObjectSpace.define_finalizer(Object.new, P); GC.start }; ObjectSpace.define_finalizer(Object.new, P); loop { GC.start }",
  "finalizer sleep" => "ObjectSpace.define_finalizer(Object.new, proc { sleep }); 100.times { Object.new; GC.start }; sleep",
  "mutex ensure" => "m = Mutex.new; m.lock; Thread.new { m.lock }; begin; sleep; ensure; Thread.new { m.lock }.join; end",
  "synchronize" => "m = Mutex.new; m.synchronize { begin; sleep; ensure; m.sleep; end }",
  "cond" => "m = Mutex.new; c = ConditionVariable.new; m.synchronize { loop { begin; c.wait(m); rescue Exception; end } }",
  "monitor" => "require 'monitor'; m = Monitor.new; c = m.new_cond; m.synchronize { begin; c.wait; ensure; c.wait; end }",
  "queue ensure" => "q = Queue.new; begin; q.pop; ensure; q.pop; end",
  "sized queue" => "q = SizedQueue.new(1); q << 1; begin; q << 1; ensure; q << 1; end",
  "channel ensure" => "c = RubyVM::Channel.new; begin; c.recv; ensure; c.recv; end",
  "channel full" => "c = RubyVM::Channel.new(1); c << 1; begin; c << 1; ensure; c << 1; end rescue sleep",
  "select ensure" => "c = RubyVM::Channel.new; begin; RubyVM.select(c); ensure; RubyVM.select(c); end",
  "thread ensure" => "10.times { Thread.new { begin; sleep; ensure; loop {}; end } }; sleep",
  "thread mask" => "Thread.handle_interrupt(Exception => :never) { loop {} }",
  "thread mask sleep" => "Thread.handle_interrupt(Exception => :never) { sleep }",
  "thread spawns" => "def s = Thread.new { begin; sleep 0.001; s; ensure; s; end }; s; sleep",
  "thread raise storm" => "m = Thread.current; Thread.new { loop { m.raise('x') } }; loop { begin; sleep; rescue Exception; end }",
  "fiber ensure" => "f = Fiber.new { begin; Fiber.yield; ensure; loop {}; end }; f.resume; sleep",
  "fiber storm" => "loop { Fiber.new { begin; Fiber.yield; ensure; Fiber.yield; end }.resume }",
  "enumerator" => "e = Enumerator.new { |y| begin; loop { y << 1 }; ensure; loop {}; end }; e.next; sleep",
  "timeout" => "require 'timeout'; loop { Timeout.timeout(0.001) { sleep } rescue 0 }",
  "method_missing" => "class BasicObject; def method_missing(*) = self; end; loop { BasicObject.new.x }",
  "redefined Exception" => "class Exception; def initialize(*) = loop {}; end; sleep",
  "redefined ===" => "class X < Exception; def self.===(o) = true; end; loop { begin; sleep; rescue X; end }",
  "=== loops" => "class X < Exception; def self.===(o) = loop {}; end; begin; sleep; rescue X; end",
  "Object#inspect loops" => "class Object; def inspect = loop {}; def to_s = loop {}; end; sleep",
  "message loops" => "class RuntimeError; def message = loop {}; def full_message(**) = loop {}; def detailed_message(**) = loop {}; end; raise 'x'",
  "warn loops" => "def Warning.warn(*, **) = loop {}; warn 'x'; sleep",
  "stderr loops" => "class O; def write(*) = loop {}; end; $stderr = O.new; raise 'x'",
  "stdout" => "class O; def write(*) = sleep; def flush = sleep; end; $stdout = O.new; puts 1",
  "tracepoint" => "TracePoint.new(:line) { loop {} }.enable; x = 1; sleep",
  "tracepoint raise" => "TracePoint.new(:raise) { loop {} }.enable; begin; sleep; rescue Exception; end; raise 'x'",
  "trace_var" => "trace_var(:$x) { loop {} }; $x = 1",
  "autoload" => "File.write('#{DIR}/al.rb', 'loop {}'); autoload :Al, '#{DIR}/al.rb'; Al",
  "require loop" => "File.write('#{DIR}/rq.rb', 'sleep'); Thread.new { require '#{DIR}/rq' }; sleep 0.05; begin; require '#{DIR}/rq'; ensure; require '#{DIR}/rq'; end",
  "const_missing" => "def Object.const_missing(n) = loop {}; Zzz",
  "inherited" => "def Object.inherited(k) = loop {}; Class.new",
  "method_added" => "def Object.method_added(k) = loop {}; def x = 1",
  "coerce" => "class O; def coerce(o) = loop {}; end; 1 + O.new",
  "to_str" => "class O; def to_str = sleep; end; 'a' + O.new",
  "<=> in sort" => "class O; def <=>(o) = sleep; end; [O.new, O.new].sort",
  "hash in hash" => "class O; def hash = sleep; end; { O.new => 1 }",
  "each in zip" => "class O; def each = sleep; def to_ary = nil; end; [1].zip(O.new)",
  "gsub block" => "'a' .gsub(/a/) { sleep }",
  "scan block ensure" => "begin; 'aaa'.scan(/a/) { sleep }; ensure; 'aaa'.scan(/a/) { sleep }; end",
  "sort_by ensure" => "begin; [3, 2].sort_by { sleep }; ensure; [3, 2].sort_by { sleep }; end",
  "regexp in ensure" => "begin; sleep; ensure; ('a' * 40) =~ /(a|aa|b)*\\1c$/; ('a' * 50_000).rindex(/(a+)+\\1b/); end",
  "bignum in ensure" => "begin; sleep; ensure; (3**3_000_000).to_s; end",
  "read in ensure" => "r, w = IO.pipe; begin; r.read; ensure; r.read; end",
  "write full pipe" => "r, w = IO.pipe; begin; w << 'x' * 10_000_000; ensure; w << 'x' * 10_000_000; end",
  "accept" => "require 'socket'; s = TCPServer.new('127.0.0.1', 0); begin; s.accept; ensure; s.accept; end",
  "wait child" => "pid = spawn('sleep 100'); begin; Process.wait(pid); ensure; Process.kill(:KILL, pid) rescue 0; sleep; end",
  "system" => "begin; system('sleep 4'); ensure; sleep; end",
  "popen" => "IO.popen('sleep 4') { |io| begin; io.read; ensure; io.read; end }",
  "flock" => "f = File.open('#{DIR}/lk', 'w'); f.flock(2); g = File.open('#{DIR}/lk', 'w'); begin; g.flock(2); ensure; g.flock(2); end",
  "fifo unlinked" => "p = \"#{DIR}/ff\#{rand}\"; File.mkfifo(p); Thread.new { sleep 0.05; File.unlink(p) }; File.open(p)",
  "join self-made" => "v = RubyVM.fork { begin; sleep; ensure; sleep; end }; begin; v.join; ensure; v.join; end",
  "ractor" => "$VERBOSE = nil; r = Ractor.new { loop {} }; begin; r.value; ensure; r.value; end",
  "exit in ensure" => "begin; sleep; ensure; exit 0; end",
  "exit! swallowed" => "Thread.new { loop { begin; exit; rescue Exception; end } }; sleep",
  "abort_on" => "Thread.abort_on_exception = true; Thread.new { begin; raise 'x'; ensure; loop {}; end }; sleep",
  "deep ensure" => "def d(n) = n == 0 ? sleep : begin; d(n - 1); ensure; sleep; end; d(500)",
  "deep recursion ensure" => "def d; d; ensure; d; end; d",
  "eval" => "eval('begin; sleep; ensure; eval(\"loop {}\"); end')",
  "instance_eval string huge" => "loop { eval('x = ' + '[' * 3000 + ']' * 3000) }",
  "many VMs" => "20.times { RubyVM.fork { begin; sleep; ensure; loop {}; end } }; sleep",
  "image loop" => "loop { RubyVM::Image.capture }",
  "gc stress" => "GC.stress = true; loop { [1] }",
  "gc disable" => "GC.disable; loop { [1] * 10 }",
  "ObjectSpace each" => "loop { ObjectSpace.each_object { } }",
  "backtrace" => "def d(n) = n == 0 ? loop { caller } : d(n - 1); d(3000)",
  "set_trace_func" => "set_trace_func(proc { loop {} }) rescue 0; x = 1; sleep",
  "refinement" => "module R; refine(Integer) { def +(o) = loop {} }; end; using R; 1 + 1",
  "Comparable" => "class C; include Comparable; def <=>(o) = sleep; end; C.new == C.new; C.new.clamp(C.new, C.new)",
  "ensure in define_finalizer at exit" => "O = Object.new; ObjectSpace.define_finalizer(O, proc { begin; sleep; ensure; sleep; end }); exit",
  "at_exit raise" => "at_exit { raise 'x' }; at_exit { begin; sleep; ensure; raise 'y'; end }; exit",
}
$stderr.reopen(File::NULL)
$stdout.sync = true
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
MODES = {
  "killed" => [{}, ->(vm) { vm.kill(grace: 0) }],
  "killed with grace" => [{ grace: 0.1 }, ->(vm) { vm.kill }],
  "over the limit" => [{ wall_limit: 0.3, grace: 0.1 }, ->(_) {}],
}
MODES.each do |mode, (options, ended)|
  PROGRAMS.each_slice(20) do |some|
    vms = some.map { |name, code| [name, RubyVM.new(name, "-e", code, **options).tap(&:start)] }
    sleep 0.4
    vms.each { |_, vm| ended.(vm) }
    from = now.()
    vms.each do |name, vm|
      Thread.new { vm.join rescue nil }.join([BOUND - (now.() - from), 0.1].max) or puts "#{mode}: #{name} goes on"
    end
    # What they made.
    RubyVM.list.each { |vm| vm.kill(grace: 0) if vm != RubyVM.current }
  end
end
puts "#{PROGRAMS.size * MODES.size} ends"
require "fileutils"
FileUtils.rm_rf(DIR)
