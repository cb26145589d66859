# Without --gc=stress. objspace: sizes, references, counts, origins, dumps.
require "objspace"
require "json"

p [nil, true, 1, :a, 1.5].map { |v| ObjectSpace.memsize_of(v) }
p ObjectSpace.memsize_of("x" * 10_000) >= 10_000, ObjectSpace.memsize_of([0] * 10_000) >= 80_000, ObjectSpace.memsize_of("") < 100
kind = Class.new
before = ObjectSpace.memsize_of_all(kind)
kept = kind.new
p ObjectSpace.memsize_of_all(kind) > before, ObjectSpace.memsize_of_all > ObjectSpace.memsize_of_all(String)
p ObjectSpace.count_objects_size[:TOTAL] > 0, ObjectSpace.count_objects_size(hash = { TOTAL: 1, T_OTHER: 5 }).equal?(hash), hash[:T_OTHER]
begin
  ObjectSpace.memsize_of_all(Object.new)
rescue => e
  p e.class
end

v = "c".dup
p ObjectSpace.reachable_objects_from(["a".dup, v, v]), ObjectSpace.reachable_objects_from(nil), ObjectSpace.reachable_objects_from(1)
object = Object.new
object.instance_variable_set(:@list, list = [1])
p ObjectSpace.reachable_objects_from(object).include?(list)
p ObjectSpace.reachable_objects_from({ v => list }).then { |all| all.include?(v) && all.include?(list) }
# (In a thread, whose stack goes with it: what a look at a stack still finds of the Array would be in each dump below.)
p Thread.new { ObjectSpace.reachable_objects_from(Array.new(40_000) { +"x" }).size }.value
local = +"held by a block"
p ObjectSpace.reachable_objects_from(proc { local }).any?(ObjectSpace::InternalObjectWrapper)
# What a look at references leaves alone: old objects stay, and what they get later is found.
old = Array.new(3) { [] }
3.times { GC.start }
old.each { |one| ObjectSpace.reachable_objects_from(one) }
old.each { |one| one << "young".dup }
GC.start(full_mark: false)
p old.flatten

traced = []
ObjectSpace.trace_object_allocations do
  traced << Object.new << __LINE__
  def named = "in" + " a method"
  traced << named << __LINE__ - 1
  traced << [1].map { |i| "in a block #{i}" }[0] << __LINE__
  GC.start
end
after = Object.new
traced.each_slice(2) { |one, line| p [File.basename(ObjectSpace.allocation_sourcefile(one)), ObjectSpace.allocation_sourceline(one) == line] }
p ObjectSpace.allocation_method_id(traced[2]), ObjectSpace.allocation_generation(traced[0]).class, ObjectSpace.allocation_sourcefile(after)
ObjectSpace.trace_object_allocations_clear
p ObjectSpace.allocation_sourceline(traced[0])

string = JSON.parse(ObjectSpace.dump(+"text \"quoted\"\n"))
p string.values_at("type", "value", "bytesize", "encoding"), string["memsize"] == ObjectSpace.memsize_of(+"text")
p [nil, true, 7, :sym].map { |value| ObjectSpace.dump(value) }
p JSON.parse(ObjectSpace.dump([v]))["references"] == [JSON.parse(ObjectSpace.dump(v))["address"]]
p JSON.parse(ObjectSpace.dump(String)).values_at("type", "name"), JSON.parse(ObjectSpace.dump(Kernel))["type"]
all = ObjectSpace.dump_all(output: :string).lines.map { |line| JSON.parse(line) }
p all.map { |one| one["type"] }.uniq.include?("ROOT"), all.any? { |one| one["value"] == "c" }
file = ObjectSpace.dump_all
p file.class, File.size(file.path) > 1000
File.unlink(file.path)
begin
  ObjectSpace.dump(1, output: Object.new)
rescue => e
  p e.class
end

# What begins in a file that is loaded concerns whoever loads it.
File.write(path = "/tmp/objspace-#{$$}.rb", "ObjectSpace.trace_object_allocations_start\n")
load path
loaded = Object.new
p File.basename(ObjectSpace.allocation_sourcefile(loaded)), ObjectSpace.allocation_sourceline(loaded) == __LINE__ - 1
ObjectSpace.trace_object_allocations_stop
File.unlink(path)
