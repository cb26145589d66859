# Arrays of immediates share their elements with the message; whoever writes first copies, whatever method he writes with.
there = RubyVM::Channel.new
back = RubyVM::Channel.new
echo = RubyVM.new("echo", "-e", "there, back = RubyVM::ARGV\nwhile (x = there.recv)\n  back << x\nend").start(there, back)
send = ->(x) { there << x; back.recv }
WRITES = {
  :[]= => [3, "s"], :<< => ["s"], push: ["s"], unshift: ["s"], insert: [5, "s"], pop: [], shift: [], delete_at: [4], delete: [7], clear: [],
  concat: [["s"]], replace: [["s"] * 40], fill: ["s", 2, 5], reverse!: [], rotate!: [3], sort!: [], shuffle!: [], compact!: [], uniq!: [],
  flatten!: [], slice!: [2, 6], truncate: nil, prepend: ["s", "t"], append: ["s"], pack: nil
}.compact
blocks = %i[map! collect! select! reject! keep_if delete_if filter! sort_by!]
want = (0...100).to_a
(WRITES.to_a + blocks.map { |m| [m, []] }).each do |name, args|
  a = want.dup
  got = send.(a)
  block = blocks.include?(name) ? proc { |x| name == :sort_by! ? -x : x.even? && "s" } : nil
  a.__send__(name, *args, &block)
  puts "#{name}: the receiver sees it" unless got == want
  again = send.(a)
  puts "#{name}: sent again it differs" unless again == a
  got.__send__(name, *args, &block)
  unless name == :shuffle! || got == a
    puts "#{name}: the receiver can't do it"
  end
  third = send.(got)
  puts "#{name}: from the receiver it differs" unless third == got
end
puts "-- slices and copies"
a = Array.new(1000) { |i| i * 0.5 }
b = a[100, 800]
c = a.dup
got = send.(a)
b[0] = "b"
c[0] = "c"
a[1] = "a"
p got[0..1], got[100], b[0..1], c[0..1], a[0..1], send.(b)[0..1], send.(c)[0..1], send.(a)[0..1]
x = ["cell"] + (1..100).to_a
tail = x[1..]
p send.(tail).first, send.(x).first, send.(tail[1..]).first
tail[0] = "text"
p send.(tail).first, send.(x)[0..1]
puts "-- what is in them"
p send.([nil, true, false, :sym, 1, -1, 1.5, 0.0] * 8).last(8)
p send.([1e300, -0.0, 2**62, 2**64, 1.0] * 8).first(5)
p send.((1..100).to_a.freeze).frozen?, send.((1..100).to_a).frozen?
class List < Array; attr_accessor :note; end
there << nil
echo.join
l = List.new((1..100).to_a)
l.note = "n"
there << l
m = there.recv
p m.class, m.note, m.size
puts "-- collections"
20.times { |i| there << Array.new(2_000) { |j| j }; there.recv if i.odd?; GC.start if i % 5 == 0 }
sum = 0
sum += there.recv.sum until there.size == 0
p sum
y = (1..200).to_a
there << y
GC.start
y[0] = "new" * 20
GC.start
p y[0], there.recv[0]
there << y
z = there.recv
y = nil
GC.start
p z[0], z[199]
