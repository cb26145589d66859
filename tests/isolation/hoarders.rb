# Under `ulimit -v` some of a hundred VMs take all the memory there is: they end, with NoMemoryError or what fits; the others, who hold little, finish
# as if nothing were.
PROGRAM = <<'RUBY'
hoards = [
  "a = []; loop { a << [1] * 1000 << 'x' * 100_000 }",
  "h = {}; i = 0; loop { h[\"k\#{i += 1}\"] = 'v' * 3000 }",
  "c = RubyVM::Channel.new; loop { c << { a: 'v' * 5000 } }",
  "a = []; loop { a << Fiber.new { Fiber.yield }.tap(&:resume) }",
  "s = +'x' * 1000; loop { s << s[0, 5000] << s[0, 700_000] }",
]
work = "a = Array.new(200) { |k| [k, k.to_s] }; h = a.to_h; s = +''; 20.times { h.each { |k, v| s << v }; s = s[-200..]; sleep 0.005 }; h.size + s.size"
vms = Array.new(100) { |i| i % 20 == 3 ? RubyVM.fork(hoards[i / 20]) { |s| eval(s) } : RubyVM.fork(work) { |s| eval(s) } }
ends = vms.each_with_index.map do |vm, i|
  [i % 20 == 3, vm.value]
rescue RubyVM::Error => e
  [i % 20 == 3, [NoMemoryError, FiberError].include?(e.cause.class) || e.message.include?("failed to allocate") ? :refused : e.message]
end
p ends.tally.sort_by(&:inspect)
RUBY

exe = File.readlink("/proc/self/exe")
puts IO.popen(["sh", "-c", 'ulimit -v 600000; exec "$0" -e "$1" 2>/dev/null', exe, PROGRAM], &:read)
p $?.exitstatus
