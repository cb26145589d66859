# Channels that only messages lead to go with their messages: 800 MB of them would stay otherwise.
C = RubyVM::Channel
def resident = File.read("/proc/self/statm").split[1].to_i * 4096 / 1_000_000
def heavy = "x" * 1_000_000
Port = Struct.new(:name, :channel)

shapes = {
  itself: -> { a = C.new; a << a << heavy },
  pair: -> { a, b = C.new, C.new; a << b; b << [a, heavy] },
  ring: -> { r = Array.new(5) { C.new }; r.each_with_index { |c, i| c << r[i - 1] }; r[0] << heavy },
  nested: -> { a = C.new; a << { deep: [Port.new("p", a)] } << heavy },
  behind: -> { door, a, b = C.new, C.new, C.new; a << b; b << a << heavy; door << a },
  closed: -> { a = C.new(3); a << a << heavy; a.close },
  received: -> { a, b = C.new, C.new; a << b; b << a << heavy; a.recv },
  refused: -> { a = C.new; begin; a << [a, heavy, Thread.current]; rescue TypeError; end },
  never_started: -> { a = C.new; a << a << heavy; RubyVM.new("x", "-e", "1") ; RubyVM::Channel.new << a },
  killed: -> { a, up = C.new, C.new; a << a << heavy; vm = RubyVM.fork { up << 1; a.size; sleep }; up.recv; vm.kill; begin; vm.join; rescue RubyVM::Error; end },
}
shapes.each do |name, make|
  4.times { make.call }
  GC.start
  before = resident
  80.times { make.call; GC.start if _1 % 8 == 0 }
  GC.start
  grown = resident - before
  puts "#{name} #{grown < 40 ? "flat" : "grew by #{grown} MB"}"
end

# What can be reached stays.
a, b = C.new, C.new
a << b
b << a << 42
b = nil
GC.start
b2 = a.recv
a = nil
GC.start
a2 = b2.recv
p b2.recv, a2.size
