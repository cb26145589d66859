# Without --gc=stress. Forms of dumps that tools read: what stands in a line, shapes, free cells, generations.
require "objspace"
require "json"

list = Object.new
list.instance_variable_set(:@list, kept = [1])
line = JSON.parse(ObjectSpace.dump(+"a"))
p line.keys.first(5), line["flags"], ObjectSpace.dump("a").end_with?("}\n")
GC.start
p JSON.parse(ObjectSpace.dump(kept))["flags"].slice("age", "old")
shapes = ObjectSpace.dump_shapes(output: :string).lines.map { |l| JSON.parse(l) }
p shapes.map { |s| s["type"] }.uniq, shapes.any? { |s| s["edge_name"] == "@list" }
last = RubyVM.stat(:next_shape_id)
p ObjectSpace.dump_shapes(output: :string, since: last), ObjectSpace.dump_shapes(output: :string, since: last - 1).lines.size
full = ObjectSpace.dump_all(output: :string, full: true, shapes: false).lines.map { |l| JSON.parse(l) }
sizes = GC::INTERNAL_CONSTANTS[:HEAP_COUNT].times.map { |i| GC.stat_heap(i, :slot_size) }
p full.any? { |o| o["type"] == "NONE" }, full.none? { |o| o["type"] == "SHAPE" }, full.reject { |o| o["type"] == "ROOT" }.map { |o| o["slot_size"] }.uniq - sizes
ObjectSpace.trace_object_allocations_start
generation = GC.count
first = Object.new
GC.start
second = Object.new
since = ObjectSpace.dump_all(output: :string, since: generation, shapes: false).lines.map { |l| JSON.parse(l) }
p since.map { |o| o["address"] }.then { |a| [first, second].all? { |o| a.include?(JSON.parse(ObjectSpace.dump(o))["address"]) } }, since.all? { |o| o["generation"] >= generation }
ObjectSpace.trace_object_allocations_stop

# In VMs that are made meanwhile.
def origin = ObjectSpace.trace_object_allocations { made = "a" + "b"; [File.basename(ObjectSpace.allocation_sourcefile(made)), ObjectSpace.allocation_sourceline(made)] }
ObjectSpace.trace_object_allocations do
  p RubyVM.fork { origin }.value == origin, RubyVM.fork { ObjectSpace.trace_object_allocations_stop }.value
  p RubyVM.fork { RubyVM.fork { origin }.value }.value == origin
end

# Arguments that are refused.
[-> { ObjectSpace.memsize_of_all(nil) }, -> { ObjectSpace.dump_all(output: :string, since: "x") }, -> { ObjectSpace.trace_object_allocations }].each do |way|
  p way.call
rescue TypeError, LocalJumpError => e
  p e.class, e.message
end
