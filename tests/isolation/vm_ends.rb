# Each way to end ends the VM that goes it, from whichever of its threads and fibers, and no other.
$stderr.reopen(File::NULL, "w")
witness = RubyVM.fork { loop { sleep 0.001 } }
{
  "done" => -> { 1 },
  "exit" => -> { exit },
  "exit 3" => -> { exit 3 },
  "exit false" => -> { exit false },
  "exit in a thread" => -> { Thread.new { exit 4 }; sleep },
  "exit in a fiber" => -> { Fiber.new { exit 5 }.resume; sleep },
  "exit!" => -> { begin; exit! 6; ensure; exit 7; end },
  "exit! in a thread" => -> { Thread.new { exit! 8 }; begin; sleep; ensure; exit 9; end },
  "exit! in a fiber" => -> { Fiber.new { begin; exit! 10; ensure; exit 11; end }.resume },
  "exit! beside busy threads" => -> { 3.times { Thread.new { loop {} } }; exit! 12 },
  "exit in at_exit" => -> { at_exit { exit 13 }; raise "x" },
  "exit in ensure" => -> { begin; raise "x"; ensure; exit 14; end },
  "raise in at_exit" => -> { at_exit { raise "late" } },
  "abort" => -> { abort },
  "SystemExit" => -> { raise SystemExit.new(15, "bye") },
  "raise" => -> { raise ArgumentError, "bad" },
  "raise in a thread" => -> { Thread.new { Thread.current.report_on_exception = false; raise "in thread" }.join },
  "abort_on_exception" => -> { Thread.abort_on_exception = true; Thread.new { raise "aborting" }; sleep },
  "throw" => -> { throw :nowhere },
  "recursion" => -> { def deep(n) = deep(n + 1); deep(0) },
  "recursion in a fiber" => -> { def deep(n) = deep(n + 1); Fiber.new { deep(0) }.resume },
  "recursion in a thread" => -> { def deep(n) = deep(n + 1); t = Thread.new { deep(0) }; t.report_on_exception = false; t.join },
  "native recursion" => -> { a = []; (ENV["ZAKURO_TEST_SCALE"] == "small" ? 2_000 : 100_000).times { a = [a] }; a.flatten.hash; def deep(x) = [x].each { |y| deep(y) }; deep(1) },
  "signal" => -> { raise SignalException, "TERM" },
  "interrupt" => -> { raise Interrupt },
  "deadlock" => -> { Queue.new.pop },
  "kills itself" => -> { RubyVM.current.kill; sleep },
}.each do |name, job|
  vm = RubyVM.fork(job, name: name) { |j| j.call }
  vm.join(60) rescue 0
  puts "#{name}: #{vm.report.values_at(:kind, :status, :exception).inspect}"
end
p witness.alive?
witness.kill.join rescue p $!.message
