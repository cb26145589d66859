# Without --gc=stress. (What is counted is time.)
# A block without a loop never polls: samples find it when the builtin that calls it, once for all, does (docs/jit.md).
# Without machine code nothing comes to it.
def compiled = RubyVM::JIT.stat[:mode] == :off ? (@none = @none.to_i + 3) : RubyVM::JIT.stat[:compiled]

s = 0
before = compiled
20_000_000.times { |i| s += i & 15 }
# That may have been the program around it.
20_000_000.times { |i| s += i & 7 }
20_000_000.times { |i| s += i & 3 }
p compiled - before >= 3

before = compiled
1.step(20_000_000) { |i| s ^= i }
p compiled > before

before = compiled
(1..20_000_000).each_slice(2) { |i, k| s += i ^ k }
p compiled > before
