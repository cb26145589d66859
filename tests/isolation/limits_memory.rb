# Over its memory limit a VM gets NoMemoryError, once; when it goes on allocating it is ended. Others go on.
def limited(name, limit = 20_000_000, &job)
  # Collecting at every safepoint, these would take hours.
  vm = RubyVM.fork(job, name: name, memory_limit: limit) { |job| GC.stress = false; job.call }
  v = vm.value
  puts "#{name}: #{v.inspect}"
rescue RubyVM::Error => e
  puts e.message, vm.report.slice(:kind, :limit, :exception)
end
$stderr.reopen(File::NULL, "w")
limited("strings") { a = []; loop { a << "x" * 1000 } }
limited("arrays") { a = []; loop { a << [] } }
limited("hash") { h = {}; i = 0; loop { h[i += 1] = i } }
limited("objects") { c = Struct.new(:a, :b); a = nil; loop { a = c.new(a, 1) } }
limited("doubling") { s = "x"; loop { s += s } }
limited("appending") { s = +"x"; loop { s << s } }
limited("natively") { (1..10_000_000).to_a }
limited("map") { (1..1_000_000).map { |i| [i] } }
limited("string at once") { "x" * 30_000_000 }
limited("format") { format("%100000000d", 1) }
limited("ljust") { "x".ljust(100_000_000) }
limited("pack") { [1].pack("x100000000") }
limited("bignums") { a = []; x = 7**20_000; loop { a << x; x += 1 } }
limited("procs") { a = []; loop { x = 1; a << -> { x } } }
limited("threads") { a = Queue.new; 3.times { Thread.new { loop { a << "x" * 500 } } }; sleep }
limited("fiber") { Fiber.new { a = []; loop { a << "x" * 500 } }.resume }

# Rescued: it lets go of things and lives on.
limited("rescued") do
  kept = []
  begin
    loop { kept << "x" * 1000 }
  rescue NoMemoryError => e
    kept = nil
    5.times { "y" * 1_000_000 }
    e.message
  end
end
# Garbage is no reason.
limited("garbage") { 300_000.times { "x" * 1000 }; :done }
# ensure has room to work.
limited("ensure") { a = []; begin; loop { a << "x" * 1000 }; ensure; $done = "e" * 1000; end }
limited("swallower") { a = []; loop { begin; loop { a << "x" * 1000 }; rescue NoMemoryError; end } }
