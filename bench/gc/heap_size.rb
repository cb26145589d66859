# What collecting costs against the size of the heap: L live objects, N more of them made, all garbage, and a full collection whenever the heap holds H objects.
#   heap_size.rb [LIVE] [MADE]
# Numbers of objects (an Array of two with a short String each second time); 300,000 and 3,000,000 unless given. Prints for each H `full_SHARE VALUE ns`, SHARE being L/H: time that collecting took
# for each object made (GC.total_time); then `default_SHARE VALUE ns`, as the interpreter collects by itself, with the L/H at its collections' average. `live VALUE`: objects.
live, made = Integer(ARGV[0] || 300_000), Integer(ARGV[1] || 3_000_000)
make = ->(i) { i.odd? ? [i, "text"] : [i, i] }
kept = Array.new(live) { |i| make.(i) }
GC.start
puts "live #{live}"

def collecting
  before = GC.total_time
  yield
  GC.total_time - before
end

# The garbage of one cycle, H - L objects each.
[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15].each do |share|
  cycle = (live / share - live).round
  rounds = [made / cycle, 2].max
  GC.disable
  took = collecting do
    rounds.times do
      cycle.times { |i| make.(i) }
      GC.enable
      GC.start
      GC.disable
    end
  end
  GC.enable
  puts format("full_%.3f %.2f ns", share, took.fdiv(rounds * cycle))
end

GC.start
count = GC.count
took = collecting { made.times { |i| make.(i) } }
collections = GC.count - count
puts format("default_%.3f %.2f ns", live.fdiv(live + made.fdiv([collections, 1].max)), took.fdiv(made))
kept.clear
