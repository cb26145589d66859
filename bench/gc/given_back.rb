# Resident memory of a program that grows, lets seven eighths go scattered over all that it had, goes on with objects of other sizes, and lets all go.
#   given_back.rb [OBJECTS]
# OBJECTS: 1,000,000 unless given. Prints `NAME VALUE MB` after each step, and `floats_peak VALUE MB`: the largest resident memory while vectors of Floats come and go.
count = Integer(ARGV[0] || 1_000_000)
resident = -> { File.read("/proc/self/status")[/^VmRSS:\s*(\d+)/, 1].to_i / 1024.0 }
step = lambda do |name|
  GC.start
  sleep 1.5
  puts format("%s %.1f MB", name, resident.())
end
step.("begin")
kept = Array.new(count) { |i| i % 3 == 0 ? "a text of some length, number #{i}" * (i % 4 + 1) : i % 3 == 1 ? [i] * (i % 7) : { i => i.to_f } }
step.("grown")
kept.map!.with_index { |value, i| i % 8 == 0 ? value : nil }
kept.compact!
step.("an_eighth")
others = Array.new(count / 4) { |i| [i.to_s * 3, [i] * 30] }
step.("other_sizes")
others = nil
step.("an_eighth_again")
kept = nil
step.("end")

# Short-lived Floats and vectors, as in bench/aobench.rb.
Vector = Struct.new(:x, :y, :z)
most = 0.0
20.times do
  (count / 20).times { |i| Vector.new(i * 0.5, i * 0.25, i * 0.125).then { |v| Math.sqrt(v.x * v.x + v.y * v.y + v.z * v.z) } }
  most = [most, resident.()].max
end
puts format("floats_peak %.1f MB", most)
