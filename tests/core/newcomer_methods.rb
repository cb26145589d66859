# What a newcomer looked for: methods and constants that are met seldom.
def t
  p yield
rescue Exception => e
  puts "#{e.class}: #{e.message}"
end

puts "-- ENV, Kernel, constants"
ENV["NEWCOMER"] = "n"
t { ENV.fetch_values("NEWCOMER") { 1 } }
t { ENV.fetch_values("NEWCOMER", "no such") { |k| k * 2 } }
t { ENV.fetch_values("NEWCOMER", "no such") }
t { ENV.fetch_values(1) }
t { ENV.fetch_values }
t { [Pathname("a"), Pathname(Pathname("b")), Kernel.Pathname("c")].map(&:to_s) }
t { path = Pathname("a"); Pathname(path).equal?(path) }
%w[DIRECT NOATIME TMPFILE RSYNC SEEK_DATA SEEK_HOLE].each do |n|
  t { [n, IO.const_get(n), File.const_get(n), File::Constants.const_defined?(n, false), IO.const_defined?(n, false)] }
end
t { File::Constants.const_defined?(:DIRECTORY, false) }
t { Dir.chroot("/no such directory") }
t { syscall(39) == $$ }
t { syscall(9999) }
t { syscall }
t { syscall("x") }
t { r, w = IO.pipe; [syscall(1, w.fileno, +"written", 7), r.readpartial(9)] }
t { r, w = IO.pipe; w.write "read"; s = "." * 6; [syscall(0, r.fileno, s, 6), s] }

puts "-- GC"
t { GC.latest_gc_info.keys }
t { GC.start; GC.latest_gc_info(:state) }
t { GC.latest_gc_info(:nope) }
t { GC.latest_gc_info(1) }
t { h = {}; GC.latest_gc_info(h).equal?(h) }
t { GC.stat_heap(0).keys }
t { GC.stat_heap(0, :slot_size) }
t { GC.stat_heap.values.all? { |h| h[:heap_live_slots] <= h[:heap_eden_slots] } }
t { h = {}; GC.stat_heap(1, h).equal?(h) && h.key?(:slot_size) }
t { GC.stat_heap(nil, :slot_size) }
t { GC.stat_heap(99) }
t { GC.stat_heap(0, :nope) }
t { GC.stat_heap(:a) }

puts "-- Random in Marshal data"
t { Marshal.dump(Random.new(3)).then { [it.size, it.sum] } }
t { Marshal.load(Marshal.dump(Random.new(3))) == Random.new(3) }
[1, 623, 624, 625, 2000].each do |n|
  r = Random.new(n << 70)
  n.times { r.bytes(4) }
  copy = Marshal.load(Marshal.dump(r))
  t { [copy == r, copy.rand == r.rand, copy.seed == r.seed, Marshal.dump(r).sum] }
end
t { Random.new.send(:marshal_load, [1, 625, 2]) }
t { Random.new.send(:marshal_load, []) }
t { Random.new.send(:marshal_load, [2**40, 1]).then { [it.rand(100), it.seed] } }

puts "-- offsets with seconds"
local = Time.new(1900, 1, 1, 0, 0, 0, 1172)
t { local }
t { Time.new(1900, 1, 1, 0, 0, 0, "-01:30:59") }
t { [local.to_s, local.strftime("%z %::z"), local.xmlschema] }
t { Marshal.load(Marshal.dump(local)).then { [it, it.utc_offset, it == local] } }
[1, 1899, 1900, 67435, 67436, 999_999].each do |year|
  time = Time.utc(year, 2, 3, 4, 5, 6)
  t { [Marshal.dump(time).bytes.sum, Marshal.load(Marshal.dump(time)) == time] }
end

puts "-- programs as bytes"
I = RubyVM::InstructionSequence
t { I.load_from_binary(I.compile("def x(a) = a + 1; [x(3), __FILE__, __LINE__]", "f.rb", nil, 7).to_binary).eval }
t { I.load_from_binary(I.compile("1\n2", "f.rb", "/x/f.rb", 7).to_binary).then { [it.path, it.absolute_path, it.first_lineno, it.label] } }
t { I.load_from_binary(I.compile("'a'.frozen?", frozen_string_literal: true).to_binary).eval }
t { I.load_from_binary(I.compile("'a'.frozen?", frozen_string_literal: false).to_binary).eval }
t { I.load_from_binary_extra_data(I.compile("1").to_binary("extra")) }
t { I.load_from_binary_extra_data(I.compile("1").to_binary) }
t { I.of(proc {}).to_binary }
t { I.load_from_binary(1) }
["", "xx", "x" * 200].each { |s| t { I.load_from_binary(s) } }
I.singleton_class.define_method(:load_iseq) { |f| f.end_with?("otherwise.rb") ? I.compile("p [:otherwise, __FILE__]", "o.rb") : 1 }
File.write("/tmp/newcomer_otherwise.rb", "p :itself")
load "/tmp/newcomer_otherwise.rb"
I.singleton_class.remove_method(:load_iseq)
load "/tmp/newcomer_otherwise.rb"
File.delete("/tmp/newcomer_otherwise.rb")
t { [RubyVM.keep_script_lines, I.compile("1").script_lines] }
t { RubyVM.keep_script_lines = true; I.compile("1\n2").script_lines }

puts "-- a thread's function for traces"
events = []
def traced
  x = 1
  x
end
thread = Thread.new { Thread.stop; traced; 2 }
Thread.pass until thread.stop?
t { thread.set_trace_func(proc { |event, file, line, id, _, klass| events << [event, id, klass] if id == :traced }).class }
thread.run
traced
thread.join
t { events }
t { Thread.current.set_trace_func(1) }
t { Thread.current.set_trace_func(nil) }
