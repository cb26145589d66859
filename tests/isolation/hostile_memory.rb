# Without --gc=stress. What a VM with a memory limit does to get at more: it ends with the documented error, in time, and its neighbour counts on.
# "memory" is NoMemoryError, or the VM's end at its limit.
ATTACKS = {
  "str*" => 'a = []; loop { a << "x" * 1_000_000_000 }',
  "str*1<<60" => '"x" * (1 << 60)',
  "str*double" => 's = "x"; loop { s *= 2 }',
  "str<<" => 's = +"x" * 1000; loop { s << s }',
  "ljust" => '"".ljust(1 << 40)',
  "ljust2" => '"".ljust(1_000_000_000, "ab")',
  "center" => '"".center(1 << 61)',
  "pack" => '[1].pack("x1000000000")',
  "pack@" => '[1].pack("@1000000000")',
  "packx" => '[1].pack("x99999999999999999999")',
  "packa" => '["a"].pack("a2000000000")',
  "Array.new" => 'Array.new(1 << 40)',
  "Array.new2" => 'Array.new(1 << 27) { |i| i.to_s }',
  "Array.new3" => 'Array.new(1 << 62)',
  "Array*" => '[1] * (1 << 40)',
  "Array[]=" => 'a = []; a[1 << 40] = 1',
  "Array.fill" => '[].fill(0, 0, 1 << 36)',
  "int**" => '10**10**8',
  "int**2" => '10**10**18',
  "int<<" => '1 << (1 << 40)',
  "int<<2" => '1 << (1 << 70)',
  "rational" => '(1/3r)**(10**9)',
  "float.to_r" => '1e300.to_r ** 100_000_000',
  "regexp rep" => 'Regexp.new("(a{1,99999}){1,99999}"); :ok',
  "regexp rep2" => 'Regexp.new("((((a{100}){100}){100}){100}){100}").match("a")',
  "product" => 'a = (0..999).to_a; a.product(a, a, a)',
  "product2" => '([(0..99).to_a] * 20).then { |f, *r| f.product(*r) }',
  "json" => 'require "json"; JSON.parse("[" * 1_000_000)',
  "json2" => 'require "json"; JSON.parse("[" * 1_000_000, max_nesting: 0)',
  "json3" => 'require "json"; JSON.parse("[" * 1_000_000 + "]" * 1_000_000, max_nesting: false).size',
  "json4" => 'require "json"; a = []; 1_000_000.times { a = [a] }; JSON.generate(a, max_nesting: 0).size',
  "marshal" => 'Marshal.load("\x04\x08[\x04\xff\xff\xff\x3f")',
  "marshal2" => 'Marshal.load("\x04\x08\"\x04\xff\xff\xff\x3f")',
  "marshal3" => 'Marshal.load("\x04\x08{\x04\xff\xff\xff\x3f")',
  "marshal4" => 'Marshal.load("\x04\x08l+\x04\xff\xff\xff\x3f")',
  "marshal5" => 'Marshal.load("\x04\x08" + "[\x06" * 1_000_000 + "0").size',
  "marshal6" => 'a = []; 1_000_000.times { a = [a] }; Marshal.dump(a)',
  "marshal7" => 'Marshal.load("\x04\x08S:\x06A\x04\xff\xff\xff\x3f")',
  "unpack x" => '"a".unpack("x9999999999")',
  "unpack a" => '"a".unpack("a9999999999")',
  "unpack C" => '"a".unpack("C1000000000")',
  "unpack @" => '"a".unpack("@99999999999999999999")',
  "format" => 'format("%9999999999d", 1)',
  "format2" => 'format("%1000000000d", 1)',
  "format3" => 'format("%.1000000000f", 1.5)',
  "format4" => 'format("%1$1000000000s%1$1000000000s%1$1000000000s", "a")',
  "format5" => 'format("%.2000000000d", 3)',
  "nest arr" => 'eval("[" * 100_000 + "]" * 100_000)',
  "nest par" => 'eval("(" * 100_000 + "1" + ")" * 100_000)',
  "nest if" => 'eval("if 1;" * 50_000 + "end;" * 50_000)',
  "nest hash" => 'eval("{a: " * 50_000 + "1" + "}" * 50_000)',
  "nest def" => 'eval("def a;" * 20_000 + "end;" * 20_000)',
  "nest lambda" => 'eval("->{" * 20_000 + "}" * 20_000)',
  "nest call" => 'eval("p" + ".a(b" * 30_000 + ")" * 30_000)',
  "chain" => 'eval("1" + ".succ" * 200_000)',
  "plus" => 'eval("1" + "+1" * 500_000)',
  "fibers2" => 'a = []; loop { a << Fiber.new { } }',
  "queues" => 'a = []; loop { a << Queue.new }',
  "channel fill2" => 'c = RubyVM::Channel.new; s = "x" * 1_000_000; loop { c << s.dup << (s + "a") }',
  "channels" => 'a = []; loop { a << RubyVM::Channel.new }',
  "procs" => 'a = []; loop { x = 1; a << proc { x } }',
  "enums" => 'a = []; loop { e = [1,2].each; e.next; a << e }',
  "classes" => 'a = []; loop { a << Class.new }',
  "hashnew" => 'Hash.new(capacity: 1 << 40)',
  "deep ==" => 'a = []; b = []; 300_000.times { a = [a]; b = [b] }; a == b',
  "deep hash" => 'a = []; 300_000.times { a = [a] }; a.hash; 1',
  "deep inspect" => 'a = []; 300_000.times { a = [a] }; a.inspect.size',
  "deep <=>" => 'a = []; b = []; 300_000.times { a = [a]; b = [b] }; a <=> b',
  "deep eql" => 'a = []; b = []; 300_000.times { a = [a]; b = [b] }; a.eql?(b)',
  "deep join" => 'a = []; 300_000.times { a = [a] }; a.join',
  "deep dup" => 'a = []; 300_000.times { a = [a] }; RubyVM::Channel.new << a; 1',
  "deep recursion" => 'def r(n) = r(n + 1) + 1; r(0)',
  "deep mm" => 'def method_missing(*) = foo; bar',
  "deep block" => 'x = proc { x.() }; x.()',
  "deep comparable" => 'class C; include Comparable; def <=>(o) = self == o ? 0 : 1; end; C.new == C.new',
  "deep rec hash" => 'a = []; a << a; a.hash; h = {}; h[h] = h; h.hash; 1',
  "ostring" => 'require "stringio"; s = StringIO.new; s.pos = 1 << 40; s.write("x")',
  "stringio trunc" => 'require "stringio"; s = StringIO.new; s.truncate(1 << 40)',
  "iobuffer2" => 'a = []; loop { a << IO::Buffer.new(1 << 24).tap { |b| b.set_string("x") } }',
  "bigdecimal" => 'require "bigdecimal"; BigDecimal("1e9999999999").to_i',
  "bigdecimal2" => 'require "bigdecimal"; BigDecimal("1").div(BigDecimal("3"), 2_000_000_000)',
  "zlib" => 'require "zlib"; z = Zlib::Deflate.deflate("\0" * 10_000_000); a = []; loop { a << Zlib::Inflate.inflate(z) }',
  "range to_a" => '(1..1 << 40).to_a',
  "zip" => 'a = (1..10_000_000).to_a; a.zip(a, a, a, a)',
  "each_cons" => '(1..10_000_000).each_cons(100).to_a',
  "split" => '("a," * 50_000_000).split(",")',
  "tr" => '"a" * 10 * 100_000_000',
  "strftime" => 'Time.now.strftime("%1000000000d")',
  "strftime2" => 'Time.now.strftime("%999999999999d")',
  "securerandom" => 'require "securerandom"; SecureRandom.hex(1 << 33)',
  "at_exit" => 'loop { at_exit { } }',
  "trace" => 'a = []; loop { a << TracePoint.new(:call) { } }',
  "thread locals" => 'i = 0; loop { Thread.current[:"k#{i += 1}"] = i }',
  "mutexes" => 'a = []; loop { a << Mutex.new }',
  "bindings" => 'a = []; loop { a << binding }',
  "rescue nomem" => 'a = []; loop { begin; a << "x" * 100_000; rescue NoMemoryError; end }',
  "ensure hoard" => 'begin; a = []; loop { a << "x" * 100_000 }; ensure; loop { a << "x" * 100_000 }; end',
  "freeze graphs" => 'a = []; loop { a << Ractor.make_shareable([1, "x" * 1000]) }',
  "to_sym big" => '("x" * 100_000_000).to_sym.size',
  "Struct.new" => 'Struct.new(*(1..30_000).map { |i| :"m#{i}" })',
  "ivars" => 'o = Object.new; 30_000.times { |i| o.instance_variable_set("@v#{i}", i) }',
  "fibers" => 'a = []; 1_000_000.times { a << (f = Fiber.new { Fiber.yield }; f.resume; f) }',
  "vms" => 'a = []; loop { a << RubyVM.fork { sleep } }',
  "orphan vms" => 'loop { RubyVM.fork { sleep } }',
  "images" => 'a = []; i = 0; loop { $x = i += 1; a << RubyVM::Image.capture }',
  "channel fill" => 'c = RubyVM::Channel.new; s = "x" * 1000; loop { c << [s] }',
  "frozen fill" => 'c = RubyVM::Channel.new; loop { c << ["x" * 50_000].freeze.each(&:freeze) }',
  "symbols" => 'i = 0; loop { "hostile_#{i += 1}".to_sym }',
  "hash" => 'h = {}; i = 0; loop { h[i += 1] = i }',
  "queue fill" => 'q = Queue.new; loop { q << "x" * 100 }',
  "singletons" => 'a = []; loop { o = Object.new; def o.x = 1; a << o }',
  "permutations" => '(0..99).to_a.permutation.to_a',
  "messages with one buffer" => 'c = RubyVM::Channel.new; s = ("x" * 1_000_000).freeze; 1000.times { c << s }; c.size',
}

LIMIT = 48 << 20
stop = RubyVM::Channel.new
neighbour = RubyVM.fork(stop) do |channel|
  n = 0
  until channel.try_recv
    1000.times { n += 1 }
    sleep 0.001
  end
  n
end
ATTACKS.each do |name, source|
  vm = RubyVM.fork(source, memory_limit: LIMIT, wall_limit: 60) do |text|
    eval(text)
    "ok"
  rescue NoMemoryError
    "memory"
  rescue Exception => e
    e.class.name
  end
  outcome = begin
    vm.value
  rescue RubyVM::Error => e
    (vm.report[:limit] || e.message).to_s
  end
  puts "#{name}: #{outcome}"
end
stop << true
puts neighbour.value > 10_000
