# A killed VM ends, whatever it is doing: interpreted and native loops, recursion, work with large objects.
def killed(name, grace: 0.02, &job)
  started = RubyVM::Channel.new
  vm = RubyVM.fork(started, job, name: name) { |c, job| c << 1; job.call }
  started.recv
  sleep 0.02
  vm.kill(grace: grace)
  vm.join(60) ? puts("#{name}: not killed") : puts("#{name}: timed out")
rescue RubyVM::Error => e
  puts "#{e.message} #{vm.report[:kind]} #{vm.status} #{vm.alive?}"
end

killed("loop") { loop {} }
killed("while") { while true; end }
killed("modifier") { x = 0; x += 1 while true }
killed("endless range") { (1..).each {} }
killed("step") { 1.step {} }
killed("times") { (10**18).times {} }
killed("upto") { 1.upto(10**18) {} }
killed("inject") { (1..10**18).inject(:+) }
killed("sort") { a = Array.new(50_000) { |i| (i * 7919) % 50_021 }; loop { a.sort { |x, y| x <=> y } } }
killed("array block") { Array.new(10**9) {} }
killed("hash") { h = {}; i = 0; loop { h[(i += 1) % 1000] = i.to_s } }
killed("strings") { s = +""; loop { s << "x" * 100; s = +"" if s.size > 100_000 } }
killed("bignums") { x = 3**10_000; loop { x * x } }
killed("recursion") { def down(n) = down(n + 1); loop { begin; down(0); rescue SystemStackError; end } }
killed("eval") { loop { eval("1 + 1") } }
killed("collections") { loop { GC.start } }
killed("fibers") { Fiber.new { Fiber.new { loop {} }.resume }.resume }
killed("enumerator") { e = Enumerator.new { |y| loop { y << 1 } }; loop { e.next } }
killed("threads") { 5.times { Thread.new { loop {} } }; sleep }
killed("method_missing") { o = Object.new; def o.method_missing(*) = nil; loop { o.foo } }
puts "alive: #{RubyVM.list.size}"
