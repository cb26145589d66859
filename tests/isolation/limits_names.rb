# Names live for ever in the process's table: who adds them is charged, and ended by the memory limit.
LIMIT = ENV["ZAKURO_TEST_SCALE"] == "small" ? 4_000_000 : 8_000_000
ROUNDS = ENV["ZAKURO_TEST_SCALE"] == "small" ? 20_000 : 200_000
def limited(name, &job)
  vm = RubyVM.fork(name: name, memory_limit: LIMIT, &job)
  puts "#{name}: #{vm.value.inspect}"
rescue RubyVM::Error => e
  puts e.message.sub(LIMIT.to_s, "LIMIT").sub(/ at .*/, ""), vm.report.slice(:kind, :limit, :exception)
end
$stderr.reopen(File::NULL, "w")
limited("to_sym") { i = 0; loop { "to_sym_#{i += 1}_#{"x" * 100}".to_sym } }
limited("long ones") { i = 0; loop { "long_#{i += 1}_#{"x" * 100_000}".to_sym } }
limited("literals") { i = 0; long = "x" * 1000;  loop { :"literal_#{i += 1}_#{long}" } }
limited("variables") { i = 0; long = "x" * 1000; loop { Object.new.instance_variable_get("@variable_#{i += 1}_#{long}") } }
limited("asking") { i = 0; long = "x" * 1000; loop { respond_to?("asking_#{i += 1}"); "asking_#{i}_#{long}".intern } }
limited("source") { i = 0; long = "x" * 5000; loop { eval "source_#{i += 1}_#{long} = 1" } }
limited("by children") { n = 0; loop { n += 1; RubyVM.fork(n) { |k| 2000.times { |i| "child_#{k}_#{i}".to_sym }; nil }.join rescue nil } }
limited("swallower") { i = 0; loop { begin; loop { "swallow_#{i += 1}_#{"x" * 1000}".to_sym }; rescue NoMemoryError; end } }
# Names can't be given back, but whoever gives back something else has room for more.
limited("rescued") { ballast = "x" * (LIMIT / 8); i = 0; begin; loop { "rescued_#{i += 1}_#{"x" * 1000}".to_sym }; rescue NoMemoryError; end; ballast.clear; GC.start; :"one more#{i}" && :done }
# Names that are known cost nothing, whoever made them.
limited("known") { ROUNDS.times { |i| "known_#{i % 100}".to_sym }; :done }
names = Array.new(100) { |i| :"parent_#{i}" }
limited("given", &->() { ROUNDS.times { |i| "parent_#{i % 100}".to_sym }; :done })
# Who has no limit is not counted.
RubyVM.fork { 2000.times { |i| "free_#{i}".to_sym }; RubyVM.fork(memory_limit: LIMIT) { :alive }.value }.value.then { p _1 }
# The table of names grows by a part that is larger than what a VM may have: that is not the VM's, in whose turn it happens.
few = ENV["ZAKURO_TEST_SCALE"] == "small" ? 1_000 : 10_000
puts "all of: #{Array.new(20) { |k| RubyVM.fork(k, memory_limit: 2_000_000) { |k| few.times { |i| "short_#{k}_#{i}".to_sym }; :done }.value }.tally}"
