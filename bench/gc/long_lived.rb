# Garbage beside more and more objects that stay: MADE objects (2,000,000 unless given) while L others live, for growing L.
#   long_lived.rb [MADE] [MOST]
# Prints for each L `whole_L VALUE ns` (processor time for each object made) and `collecting_L VALUE ns` (GC.total_time of it).
made, most = Integer(ARGV[0] || 2_000_000), Integer(ARGV[1] || 3_200_000)
kept = []
make = ->(i) { i.odd? ? [i, "text"] : { i => i } }
cpu = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) }
sizes = [0] + 5.downto(0).map { |i| most >> i }
sizes.each do |size|
  kept << make.(kept.size) while kept.size < size
  GC.start
  before, start = GC.total_time, cpu.()
  made.times { |i| make.(i) }
  puts format("whole_%d %.2f ns", size, (cpu.() - start) * 1e9 / made), format("collecting_%d %.2f ns", size, (GC.total_time - before).fdiv(made))
end
