# RubyVM::JIT.stat, in whatever mode.
s = RubyVM::JIT.stat
p s.keys, s[:exits].keys
p s[:refused].class, s[:time].class, s[:limit] >= 0
enabled = RubyVM::JIT.enabled?
p enabled == (s[:mode] != :off), %i[on off always exit-everywhere].include?(s[:mode])
def hot(n)
  s = 0
  n.times { |i| s += i }
  i = 0
  i += 1 while i < n
  s + i
end
deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 20
begin
  hot(100_000)
  t = RubyVM::JIT.stat
end until !enabled || t[:compiled] > s[:compiled] && t[:bytes] > 0 || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
p !enabled || t[:compiled] > s[:compiled] && t[:bytes] > 0 && t[:bytes] <= t[:limit] && t[:time] > 0.0
# Guards that fail are counted: what was an Integer becomes a String.
def add(a, b) = a + b
before = RubyVM::JIT.stat[:exits].values.sum
3000.times { |i| add(i, 1) }
hot(100_000)
200.times { add("a", "b") }
3000.times { |i| add(i, 0.5) }
p !enabled || RubyVM::JIT.stat[:exits].values.sum >= before
# What a Hash says of one moment stays as it is; no program can change the figures.
p t.frozen?, (t[:compiled] = 0), RubyVM::JIT.stat[:compiled] == 0 && enabled
