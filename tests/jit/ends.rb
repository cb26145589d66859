# Without --gc=stress. Kill, limits of memory and processor time, in every kind of hot loop: the VM ends, and says why.
KINDS = {
  "while" => "i = 0; while true; i += 1; i = 0 if i > 1000000; end",
  "until" => "i = 0; until i < 0; i = (i + 1) & 0xffff; end",
  "floats" => "x = 0.5; while x > 0.0; x = x * 0.5 + 0.25; end",
  "times" => "loop { 1000.times { |i| i + 1 } }",
  "each" => "a = [1, 2, 3]; while true; a.each { |v| v + 1 }; end",
  "loop" => "n = 0; loop { n = n ^ 1 }",
  "recursion" => "def f(n) = n < 2 ? n : f(n - 1) + f(n - 2); f(80)",
  "mutual" => "def a(n) = n == 0 ? 0 : b(n - 1); def b(n) = n == 0 ? 1 : a(n - 1); a(500) while true",
  "yields" => "def y(n) = (yield n; yield n + 1); while true; y(1) { |v| v + 1 }; end",
  "ivars" => "class C; def initialize = @a = 0; def up = @a = (@a + 1) & 255; end; c = C.new; c.up while true",
  "arrays" => "a = [0] * 50; i = 0; while true; a[i % 50] = a[(i + 1) % 50]; i = (i + 1) & 0xffff; end",
  "hashes" => "h = {}; i = 0; while true; h[i & 31] = h[(i + 1) & 31]; i = (i + 1) & 0xffff; end",
  "objects" => "class P; def initialize(x) = @x = x; end; while true; P.new(1); end",
  "strings" => "s = +''; while true; s << 'a'; s = +'' if s.size > 100; end",
  "ensure" => "i = 0; while true; begin; i = (i + 1) & 255; ensure; i ^= 1; end; end",
  "fibers" => "f = Fiber.new { n = 0; while true; Fiber.yield(n = (n + 1) & 7); end }; while true; f.resume; end",
}
def ended(vm)
  vm.join(20) or return "still runs"
  "ended"
rescue RubyVM::Error => e
  e.class == RubyVM::Error && e.message[/killed/] || e.message[/CPU limit|memory limit|wall-clock limit/] || e.cause&.class || e.class
end
KINDS.each do |name, text|
  limited = RubyVM.new(name, "-e", text, cpu_limit: 0.15).start
  timed = RubyVM.new(name, "-e", text, wall_limit: 0.15).start
  killed = RubyVM.new(name, "-e", text).start
  sleep 0.06
  killed.kill(grace: 0)
  puts "#{name}: #{ended(killed)}, #{ended(limited)}, #{ended(timed)}"
end
# Memory: what a hot loop keeps.
GROWS = {
  "array" => "a = []; i = 0; while true; a << [i]; i += 1; end",
  "floats" => "a = []; x = 1e200; while true; a << x * 1.5; end",
  "hash" => "h = {}; i = 0; while true; h[i] = i.to_s; i += 1; end",
  "objects" => "class L; attr_reader :n; def initialize(n) = @n = n; end; l = nil; while true; l = L.new(l); end",
  "bignums" => "a = []; x = 2**64; while true; a << x + a.size; end",
  "recursion" => "def r(n, a) = r(n + 1, a + [n]); begin; r(0, []); rescue SystemStackError; retry; end",
}
GROWS.each do |name, text|
  vm = RubyVM.new(name, "-e", text, memory_limit: 40_000_000, cpu_limit: 15).start
  puts "memory, #{name}: #{ended(vm)}"
end
# NoMemoryError is rescued in the loop's method, whose variables are as they were.
vm = RubyVM.new("rescues", "-e", <<~R, memory_limit: 40_000_000)
  def fill
    kept = []
    x = 1e200
    y = 2e210
    i = 0
    begin
      while true
        y = x * 2.0
        kept << y << x
        x = x * 1.0000001
        i += 1
      end
    rescue NoMemoryError
      n = kept.size
      ok = y == x * 2.0 || y * 1.0000001 == x * 2.0 || y * 1.0001 > x
      kept = nil
      return [n / 2 - i <= 1, ok, x > 1e200]
    end
  end
  2.times { RubyVM::ARGV[0] << fill }
R
out = RubyVM::Channel.new
vm.start(out)
p out.recv, out.recv, vm.join(30).class
