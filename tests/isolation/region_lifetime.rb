# Regions go with the last VM, channel or region that refers to them.
def deep(x) = Ractor.make_shareable(x)
# A large part of it is in buffers, so that what leaks shows.
def graph(tag, n = 200) = deep((0...n).map { |i| "#{tag} #{i} #{"x" * 20_000}" })
def held = (GC.start; GC.stat(:shared_regions))
def resident = File.read("/proc/self/statm").split[1].to_i * 4096
ch = RubyVM::Channel.new
# Runs in a frame of its own, so that nothing on the stack keeps what it used.
def away(&block) = Thread.new(&block).value

puts "-- held while used"
away { ch << graph("a"); nil }
got = ch.recv
p got[199][0, 6], GC.stat(:shared_regions), GC.stat(:shared_region_bytes) > 1_000_000
GC.start
p got[199][0, 6], GC.stat(:shared_regions)
part = got[7]
got = nil
GC.start
p part[0, 3], GC.stat(:shared_regions)
inside = [[part]]
part = nil
GC.start
p inside[0][0][0, 3], GC.stat(:shared_regions)

puts "-- waves"
wave = lambda do |n|
  away do
    n.times do |i|
      ch << graph("wave #{i}")
      x = ch.recv
      raise "lost" unless x[199].start_with?("wave #{i} 199")
    end
    nil
  end
end
wave.(20)
before = resident
wave.(100)
GC.start
grown = (resident - before) / 1_000_000
puts grown < 100 ? "flat" : "grown by #{grown} MB"
p held < 20

puts "-- channels dropped with regions inside"
away do
  20.times do |i|
    c = RubyVM::Channel.new
    d = RubyVM::Channel.new
    20.times { |k| c << graph("#{i}.#{k}", 150) }
    d << c
  end
  nil
end
p held < 20

puts "-- receivers that are killed, raise or end"
keep = graph("kept")
ends = ["loop { }", "exit 2", "exit!", "sleep", "nil"]
vms = 40.times.map do |i|
  c = RubyVM::Channel.new
  v = RubyVM.new("v#{i}", "-W0", "-e", "$x = RubyVM::ARGV[0].recv; $y = RubyVM::ARGV[1]; RubyVM::ARGV[2] << $x[0]; #{ends[i % 5]}")
  v.start(c, keep, ch)
  c << graph("for #{i}")
  v
end
p vms.map { ch.recv[0, 4] }.uniq
vms.each { |v| v.kill rescue nil }
vms.each { |v| v.join rescue nil }
ch << keep
p ch.recv[199][0, 9], keep[0][0, 6]

puts "-- weak references"
map = ObjectSpace::WeakMap.new
away { ch << graph("weak"); map[ch.recv] = "v"; nil }
10.times { wave.(3); GC.start }
p map.size <= 1
