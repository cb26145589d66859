# What objspace says of the core's own objects: sizes that grow with what they hold, classes among references, builtins that allocate.
require "objspace"
require "stringio"

def size(object) = ObjectSpace.memsize_of(object)
keys = []
key = -> { Object.new.tap { |object| keys << object } }
{
  Set: ->(n) { Set.new(0...n) }, by_identity: ->(n) { Set.new(0...n).compare_by_identity }, subclass: ->(n) { Class.new(Set).new(0...n) },
  WeakMap: ->(n) { ObjectSpace::WeakMap.new.tap { |map| n.times { one = key.(); map[one] = one } } },
  WeakKeyMap: ->(n) { ObjectSpace::WeakKeyMap.new.tap { |map| n.times { map[key.()] = 1 } } },
  Queue: ->(n) { Queue.new((0...n).to_a) }, SizedQueue: ->(n) { SizedQueue.new(n + 1).tap { |queue| n.times { |i| queue << i } } },
  Buffer: ->(n) { IO::Buffer.new(10 * n + 1) },
  Module: ->(n) { Module.new { (n / 10).times { |i| const_set("C#{i}", i) } } }, Class: ->(n) { Class.new { (n / 10).times { |i| define_method("m#{i}") { i } } } },
  Struct: ->(n) { Struct.new(*(0..n / 10).map { |i| :"m#{i}" }).new }, Data: ->(n) { Data.define(*(0..n / 10).map { |i| :"m#{i}" }).new(*0..n / 10) },
  MatchData: ->(n) { Regexp.new("()" * (n / 10 + 1)).match("x") }, Regexp: ->(n) { Regexp.new("ab|" * n) }
}.each { |name, make| puts "#{name}: #{size(make.(3_000)) > size(make.(0)) + 1_000}" }
set = Set.new(0...1000)
p size(set) >= 1000 * 8, size(set.dup) >= 1000 * 8, size(Set.new) < 1000
set.clear
p size(Object.new) < 200, size(1), size(nil), size(:a) < 200

class Held; NAME = "name"; end
modules = ->(object) { ObjectSpace.reachable_objects_from(object).grep(Module).sort_by { |one| one.name.to_s } }
p modules[[String, Held, Kernel, 1]], modules[{ Integer => Float }], modules[Object.new.tap { |one| one.instance_variable_set(:@held, Comparable) }]
p modules[Struct.new(:a).new(Array)].include?(Array), modules[Class.new(Hash)].include?(Hash) , modules[String..String], modules[[Set, [File]]]
p ObjectSpace.reachable_objects_from(Held).include?(Held::NAME), ObjectSpace.reachable_objects_from(Integer).size > 10, ObjectSpace.reachable_objects_from(Math).include?(Math::PI)

class Maker
  def text = "x" * 10
  def plain = Object.new
  def list = [1, 2, 3].map { |n| n.to_s }
  def parts = "a b".split
  def upper = "abc".upcase
  def shown = format("%d", 3)
  def literal = "abc"
  def sum = "a" + "b"
  def self.joined = File.join("a", "b")
  def self.own = "own #{1}"
end
found = ObjectSpace.trace_object_allocations do
  m = Maker.new
  list, parts = m.list, m.parts
  top = [1]; m.literal; after = [2]; second = "z" * 3
  [m, m.text, m.plain, list, list[0], parts, parts[0], m.upper, m.shown, m.literal, m.sum, Maker.joined, Maker.own, top, after, second]
end
found.each { |one| p [ObjectSpace.allocation_class_path(one), ObjectSpace.allocation_method_id(one), ObjectSpace.allocation_sourceline(one) && ObjectSpace.allocation_sourceline(one) - __LINE__] }

# Objects that answer to nothing.
class Bare < BasicObject
  def method_missing(name, ...) = ::Kernel.raise("asked for #{name}")
end
bare = [BasicObject.new, Bare.new]
p bare.map { |b| ObjectSpace.dump(b)[/"type":"OBJECT"/] }, bare.map { |b| ObjectSpace.reachable_objects_from(b).size }
p ObjectSpace.dump_all(output: :string).lines.size > 100
