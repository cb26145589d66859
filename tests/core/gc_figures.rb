# Without --gc=stress. What GC tells of its heap adds up, and its settings do what they say.
GC.start
s = GC.stat
p s[:time] - s[:marking_time] - s[:sweeping_time] <= 1
p s[:heap_allocated_pages] == s[:heap_eden_pages] + s[:heap_empty_pages]
p s[:total_allocated_pages] == s[:heap_allocated_pages] + s[:total_freed_pages]
p s[:heap_available_slots] == s[:heap_live_slots] + s[:heap_free_slots] + s[:heap_final_slots]
p s[:heap_live_slots] == s[:total_allocated_objects] - s[:total_freed_objects]
p s[:count] == s[:minor_gc_count] + s[:major_gc_count]
# Every key of CRuby 4.0.
p %i[count time marking_time sweeping_time heap_allocated_pages heap_empty_pages heap_allocatable_slots heap_available_slots heap_live_slots heap_free_slots heap_final_slots heap_marked_slots
  heap_eden_pages total_allocated_pages total_freed_pages total_allocated_objects total_freed_objects malloc_increase_bytes malloc_increase_bytes_limit minor_gc_count major_gc_count compact_count
  read_barrier_faults total_moved_objects remembered_wb_unprotected_objects remembered_wb_unprotected_objects_limit old_objects old_objects_limit oldmalloc_increase_bytes
  oldmalloc_increase_bytes_limit] - s.keys

puts "-- size classes"
stat, heaps = {}, {}
3.times { GC.stat(stat); GC.stat_heap(nil, heaps) }
sums = heaps.values.each_with_object(Hash.new(0)) { |h, all| h.each { |k, n| all[k] += n } }
p heaps.size == GC::INTERNAL_CONSTANTS[:HEAP_COUNT], stat[:heap_eden_pages] == sums[:heap_eden_pages]
p stat[:heap_available_slots] == sums[:heap_eden_slots], (stat[:total_allocated_objects] - sums[:total_allocated_objects]).abs < 200
counts = ObjectSpace.count_objects
GC.start
ObjectSpace.count_objects(counts)
GC.stat(stat)
p (counts[:TOTAL] - counts[:FREE] - stat[:heap_live_slots]).abs < 200, counts[:TOTAL] == stat[:heap_available_slots]

puts "-- times"
before = GC.stat(:marking_time) + GC.total_time
kept = Array.new(300_000) { "x".dup }
GC.start
kept = nil
GC.start
p GC.total_time > 0, GC.stat(:marking_time) > 0, GC.total_time / 1_000_000 - GC.stat(:time) <= 1
GC.measure_total_time = false
time = GC.total_time
GC.start
p GC.total_time == time, GC.measure_total_time
GC.measure_total_time = true

puts "-- why"
GC.start
p GC.latest_gc_info(:major_by), GC.latest_gc_info(:gc_by), GC.latest_gc_info(:immediate_sweep), GC.latest_gc_info(:state)
GC.start(full_mark: false, immediate_sweep: false)
p GC.latest_gc_info(:major_by), GC.latest_gc_info(:gc_by), GC.latest_gc_info(:immediate_sweep)
n = GC.count
1000.times { [] } until GC.count > n
p GC.latest_gc_info(:gc_by)
p((GC.latest_gc_info(:nope) rescue $!), (GC.latest_gc_info(3) rescue $!), (GC.start(nope: 1) rescue $!))

puts "-- settings"
p GC.config, GC.config(rgengc_allow_full_mark: false), GC.config(nope: 1), (GC.config(3) rescue $!), (GC.config("a" => 1) rescue $!), (GC.config(implementation: "x") rescue $!)
major, minor = GC.stat(:major_gc_count), GC.stat(:minor_gc_count)
grown = []
200.times { grown << Array.new(5_000) { [1] } }
p GC.stat(:major_gc_count) == major, GC.stat(:minor_gc_count) > minor, GC.latest_gc_info(:need_major_by)
GC.start
p GC.stat(:major_gc_count) - major
p GC.config(rgengc_allow_full_mark: true)
grown = nil

puts "-- stress"
count = GC.count
GC.stress = true
20.times { Object.new }
GC.stress = false
p GC.count - count >= 20

puts "-- profiler"
p GC::Profiler.raw_data
GC::Profiler.configure(max_records: 2)
GC::Profiler.enable
GC::Profiler.clear
3.times { GC.start }
all = GC::Profiler.raw_data
p all.size, all[0][:GC_SEQUENCE], all[0][:GC_FLAGS], GC::Profiler.raw_data(limit: 1) == all.last(1), GC::Profiler.raw_data(since: 1).map { |r| r[:GC_SEQUENCE] }
p all[0].keys, all.all? { |r| r[:GC_TIME] > 0 && r[:GC_MARK_WALL_TIME] + r[:GC_SWEEP_WALL_TIME] <= r[:GC_PAUSE_TIME] + 0.001 }
p GC::Profiler.total_time > 0, GC::Profiler.result.lines.size
p((GC::Profiler.configure(max_records: 0) rescue $!), (GC::Profiler.raw_data(limit: -1) rescue $!), (GC::Profiler.configure(nope: 1) rescue $!))
GC::Profiler.disable
p GC::Profiler.raw_data, GC::Profiler.result, GC::Profiler.total_time
GC::Profiler.enable
p GC::Profiler.raw_data.size
GC::Profiler.disable
GC.stress = :some
p [GC.stress, GC.stress = nil, GC.stress]
GC.stress = false
p GC.respond_to?(:compact), GC.respond_to?(:auto_compact), (begin; GC.compact; rescue NotImplementedError; $!.class; end), GC.verify_internal_consistency

# What is given to be filled has to be one that can be.
def refused
  yield.class
rescue TypeError, FrozenError => e
  [e.class, e.message]
end
p(*[{}.freeze, nil, 1].flat_map do |into|
  [refused { GC.stat(into) }, refused { GC.stat_heap(0, into) }, refused { GC.stat_heap(nil, into) }, refused { GC.latest_gc_info(into) }, refused { ObjectSpace.count_objects(into) }]
end)
