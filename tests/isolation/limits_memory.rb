# Over its memory limit a VM gets NoMemoryError, once; when it goes on allocating it is ended. Others go on.
LIMIT = ENV["ZAKURO_TEST_SCALE"] == "small" ? 4_000_000 : 20_000_000
def limited(name, &job)
  vm = RubyVM.fork(name: name, memory_limit: LIMIT, &job)
  v = vm.value
  puts "#{name}: #{v.inspect.sub(LIMIT.to_s, "LIMIT")}"
rescue RubyVM::Error => e
  puts e.message.sub(LIMIT.to_s, "LIMIT"), vm.report.slice(:kind, :limit, :exception)
end
$stderr.reopen(File::NULL, "w")
limited("strings") { a = []; loop { a << "x" * 1000 } }
limited("arrays") { a = []; loop { a << [nil] * 100 } }
limited("hash") { h = {}; i = 0; loop { h[i += 1] = "x" * 500 } }
limited("objects") { c = Struct.new(:a, :b); a = nil; loop { a = c.new(a, "x" * 500) } }
limited("doubling") { s = "x"; loop { s += s } }
limited("appending") { s = +"x"; loop { s << s } }
limited("natively") { (1..10_000_000).to_a }
limited("map") { (1..1_000_000).map { |i| "x" * 500 } }
limited("string at once") { "x" * 30_000_000 }
limited("format") { format("%100000000d", 1) }
limited("ljust") { "x".ljust(100_000_000) }
limited("pack") { [1].pack("x100000000") }
limited("bignums") { a = []; x = 7**20_000; loop { a << x; x += 1 } }
limited("procs") { a = []; loop { x = "x" * 500; a << -> { x } } }
limited("threads") { a = Queue.new; 3.times { Thread.new { loop { a << "x" * 500 } } }; sleep }
limited("fiber") { Fiber.new { a = []; loop { a << "x" * 500 } }.resume }

# Rescued: it lets go of things and lives on.
limited("rescued") do
  kept = []
  begin
    loop { kept << "x" * 1000 }
  rescue NoMemoryError => e
    kept = nil
    5.times { "y" * 10_000 }
    e.message
  end
end
# Garbage is no reason.
limited("garbage") { (LIMIT / 1000).times { "x" * 1000 }; :done }
# ensure has room to work.
limited("ensure") { a = []; begin; loop { a << "x" * 1000 }; ensure; $done = "e" * 1000; end }
limited("swallower") { a = []; loop { begin; loop { a << "x" * 1000 }; rescue NoMemoryError; end } }
