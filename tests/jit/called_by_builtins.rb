# Without --gc=stress. (What is counted is time.)
# A block without a loop never polls: samples find it when the builtin that calls it, once for all, does (docs/jit.md).
class Enough < StandardError; end

# Runs an endless loop until its block has machine code, which another thread looks for.
def until_compiled(block)
  looping = Thread.current
  watch = Thread.new do
    ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 20
    sleep 0.02 until RubyVM::JIT.version(block) || RubyVM::JIT.stat[:mode] == :off || Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
    looping.raise(Enough)
  end
  yield
rescue Enough
  p RubyVM::JIT.stat[:mode] == :off || !RubyVM::JIT.version(block).nil?
ensure
  watch.join
end

s = 0
add = proc { |i| s += i & 15 }
until_compiled(add) { (1 << 50).times(&add) }
mix = proc { |i| s ^= i }
until_compiled(mix) { 1.step(&mix) }
two = proc { |i, k| s += i ^ k }
until_compiled(two) { (1..).each_slice(2, &two) }
