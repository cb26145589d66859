# Forks with a change between each: images that nobody holds are given back. Counted: objects of the standing image and bytes of the process, not time.
C = { n: 0 }; L = []; $g = nil
100.times { |k| Object.class_eval "class K#{k}; X = [1, 2, 'abc']; def foo(x) = x + 1; end" }
def change(i)
  case i % 5
  when 0 then C[:n] += 1
  when 1 then $g = [i.to_s, { i => i }]
  when 2 then K1.const_set(:Y, [i]) ; K1.send(:remove_const, :Y)
  when 3 then L << i; L.shift if L.size > 20
  else K2.instance_variable_set(:@i, "x" * 100)
  end
end
def rounds(n) = n.times { |i| change(i); RubyVM.fork { 1 }.join }
def resident = File.read("/proc/self/statm").split[1].to_i * 4096
n = (ARGV[0] || 300).to_i
rounds(n)
GC.start
size, before = RubyVM::Image.capture.size, resident
rounds(5 * n)
GC.start
now = RubyVM::Image.capture.size
p now < size * 2 + 1000, resident < before + (16 << 20)
warn "#{size} -> #{now}, #{before >> 20} -> #{resident >> 20} MB" if $VERBOSE
