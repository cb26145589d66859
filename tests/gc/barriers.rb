# Everything that can refer to something is made old, then given something young, which must outlive minor and full collections.
require "set"
require "strscan"
require "stringio"
require "weakref"

def minor = GC.start(full_mark: false)
def young(tag) = "#{tag} #{"young" * 2}"
# Fills the memory of what was freed by mistake.
def churn = 300.times { |i| "filler #{i} #{"x" * (i % 40)}"; [i, "y#{i}"]; { i => "z#{i}" } }

$kinds = {}
# make: the object; give: stores something young in it; take: reads that.
def kind(name, make, give, take) = $kinds[name] = [make, give, take]

class Plain
  attr_accessor :a, :b
  def add(name, v) = instance_variable_set(name, v)
  def set(v) = @a = v
  def get = @a
end
Pair = Struct.new(:l, :r)
Point = Data.define(:x)

kind :ivar, -> { Plain.new.tap { _1.a = 1 } }, ->(o, v) { o.set(v) }, ->(o) { o.get }
kind :attr_writer, -> { Plain.new.tap { _1.b = 1 } }, ->(o, v) { o.b = v }, ->(o) { o.b }
kind :new_ivar, -> { Plain.new }, ->(o, v) { o.add(:@fresh, v) }, ->(o) { o.instance_variable_get(:@fresh) }
kind :many_ivars, -> { Plain.new }, ->(o, v) { 40.times { |i| o.add("@v#{i}", "#{v}#{i}") } }, ->(o) { (0...40).map { |i| o.instance_variable_get("@v#{i}")[-1] }.join + o.instance_variable_get(:@v7)[0..-2] }
kind :string_ivar, -> { +"text" }, ->(o, v) { o.instance_variable_set(:@x, v) }, ->(o) { o.instance_variable_get(:@x) }
kind :array_ivar, -> { [1] }, ->(o, v) { o.instance_variable_set(:@x, v) }, ->(o) { o.instance_variable_get(:@x) }
kind :struct, -> { Pair.new(1, 2) }, ->(o, v) { o.l = v; o[:r] = v + "r" }, ->(o) { o.l + o.r[-1] }
kind :struct_index, -> { Pair.new(1, 2) }, ->(o, v) { o[0] = v }, ->(o) { o[0] }
kind :singleton, -> { Object.new }, ->(o, v) { o.define_singleton_method(:held) { v } }, ->(o) { o.held }
kind :class_ivar, -> { Class.new }, ->(o, v) { o.instance_variable_set(:@x, v) }, ->(o) { o.instance_variable_get(:@x) }
kind :class_variable, -> { Class.new }, ->(o, v) { o.class_variable_set(:@@x, v) }, ->(o) { o.class_variable_get(:@@x) }
kind :constant, -> { Module.new }, ->(o, v) { o.const_set(:X, v) }, ->(o) { o::X }
kind :global, -> { nil }, ->(_, v) { $held = v }, ->(_) { $held }
kind :push, -> { [] }, ->(o, v) { o << v }, ->(o) { o[0] }
kind :push_large, -> { Array.new(100) { _1.to_s } }, ->(o, v) { o.push(v, "w") }, ->(o) { o[100] }
kind :set_at, -> { %w[a b c d e] }, ->(o, v) { o[3] = v }, ->(o) { o[3] }
kind :set_beyond, -> { %w[a] }, ->(o, v) { o[50] = v }, ->(o) { o[50] }
kind :unshift, -> { %w[a b c d e] }, ->(o, v) { o.shift; o.unshift(v) }, ->(o) { o[0] }
kind :insert, -> { %w[a b c d e] }, ->(o, v) { o.insert(2, v) }, ->(o) { o[2] }
kind :splice, -> { %w[a b c d e] }, ->(o, v) { o[1..2] = [v, v, v] }, ->(o) { o[3] }
kind :concat, -> { %w[a] }, ->(o, v) { o.concat([v], ["e"]) }, ->(o) { o[1] }
kind :fill, -> { %w[a b c d e] }, ->(o, v) { o.fill { |i| "#{v}#{i}" } }, ->(o) { o[4][0..-2] }
kind :map!, -> { %w[a b c d e] }, ->(o, v) { o.map! { |x| minor; "#{v}#{x}" } }, ->(o) { o[4][0..-2] }
kind :sort_by!, -> { %w[c b a] }, ->(o, v) { o << v; o.sort_by! { |x| minor; x.size } }, ->(o) { o[3] }
kind :select!, -> { %w[c b a] }, ->(o, v) { o.push(v, "d"); o.select! { |x| minor; x != "b" } }, ->(o) { o[2] }
kind :reject!, -> { %w[c b a] }, ->(o, v) { o.push(v, "d"); o.reject! { |x| minor; x == "c" } }, ->(o) { o[2] }
kind :uniq!, -> { %w[c b a] }, ->(o, v) { o.push("c", v, "d"); o.uniq! { |x| minor; x } }, ->(o) { o[3] }
kind :flatten!, -> { [%w[a]] }, ->(o, v) { o << [[v]]; o.flatten! }, ->(o) { o[1] }
kind :replace, -> { %w[a] }, ->(o, v) { o.replace(Array.new(30) { |i| "#{v}#{i % 10}" }) }, ->(o) { o[29][0..-2] }
kind :shared_buffer, -> { Array.new(40) { _1.to_s }[5..] }, ->(o, v) { o[3] = v }, ->(o) { o[3] }
kind :immediates, -> { (1..50).to_a }, ->(o, v) { o[7] = v }, ->(o) { o[7] }
kind :hash, -> { {} }, ->(o, v) { o[:k] = v }, ->(o) { o[:k] }
kind :hash_key, -> { { 1 => 2 } }, ->(o, v) { o[v] = 1 }, ->(o) { o.keys[1] }
kind :hash_update, -> { { 1 => 2 } }, ->(o, v) { o.update(3 => v, 1 => "o") { |_, a, b| minor; v + b } }, ->(o) { o[3] + o[1][-1] }
kind :hash_default, -> { {} }, ->(o, v) { o.default = v }, ->(o) { o[:none] }
kind :hash_default_proc, -> { {} }, ->(o, v) { o.default_proc = proc { v } }, ->(o) { o[:none] }
kind :hash_grow, -> { (0...8).to_h { [_1, _1.to_s] } }, ->(o, v) { 30.times { |i| o["k#{i}"] = "#{v}#{i % 10}" } }, ->(o) { o["k29"][0..-2] }
kind :hash_large, -> { (0...5000).to_h { [_1, _1.to_s] } }, ->(o, v) { o[4321] = v; o[9999] = v + "2"; o.delete(17) }, ->(o) { o[4321] + o[9999][-1] }
kind :hash_large_transform, -> { (0...3000).to_h { [_1, _1.to_s] } }, ->(o, v) { o.transform_values! { |x| "#{v}#{x}" } }, ->(o) { o[2999].delete_suffix("2999") }
kind :hash_identity, -> { {}.compare_by_identity }, ->(o, v) { o["k".dup] = v }, ->(o) { o.values[0] }
kind :hash_store_if_absent, -> { Hash.new { |h, k| minor; h[k] = "#{k}!" } }, ->(o, v) { o[v] }, ->(o) { o.values[0].chop }
kind :set, -> { Set.new([1]) }, ->(o, v) { o << v }, ->(o) { o.to_a[1] }
kind :closure, -> { x = 1; [->(v) { x = v }, -> { x }] }, ->(o, v) { o[0].(v) }, ->(o) { o[1].() }
kind :closure_above, -> { x = 1; [1].map { [->(v) { [1].each { x = v } }, -> { x }] }[0] }, ->(o, v) { o[0].(v) }, ->(o) { o[1].() }
kind :binding, -> { x = 1; binding }, ->(o, v) { o.local_variable_set(:x, v) }, ->(o) { o.local_variable_get(:x) }
kind :binding_new, -> { binding }, ->(o, v) { o.local_variable_set(:fresh, v) }, ->(o) { o.local_variable_get(:fresh) }
kind :last_match, -> { m = nil; [->(v) { v =~ /.+/; m = $~ }, -> { m[0] }] }, ->(o, v) { o[0].(v) }, ->(o) { o[1].() }
kind :match_in_closure, -> { [proc { |v| v ? (v =~ /.+/; nil) : $~[0] }] }, ->(o, v) { o[0].(v) }, ->(o) { o[0].(nil) || "" }
kind :memo, -> { Class.new { def get(v = nil) = @memo ||= v }.new }, ->(o, v) { o.get(v) }, ->(o) { o.get }
kind :thread_local, -> { Thread.current }, ->(o, v) { o[:held] = v; o.thread_variable_set(:kept, v + "2") }, ->(o) { o[:held] + o.thread_variable_get(:kept)[-1] }
kind :fiber_stack, -> { Fiber.new { |v| kept = v; w = Fiber.yield; kept + w.to_s }.tap { } }, ->(o, v) { o.resume(v) }, ->(o) { o.alive? ? $fiber = o.resume("") : $fiber }
kind :fiber_storage, -> { Fiber.new(storage: {}) { |v| Fiber[:x] = v; Fiber.yield; loop { Fiber.yield Fiber[:x] } } }, ->(o, v) { o.resume(v) }, ->(o) { o.resume }
kind :queue, -> { Queue.new }, ->(o, v) { o << v }, ->(o) { o.pop.tap { |x| o << x } }
kind :enumerator, -> { a = []; [a, a.each] }, ->(o, v) { o[0] << v; o[1].next }, ->(o) { o[1].rewind; o[1].next }
kind :lazy, -> { a = []; [a, a.lazy.map { |x| x + "l" }] }, ->(o, v) { o[0] << v }, ->(o) { o[1].first.chop }
kind :exception, -> { RuntimeError.new("x") }, ->(o, v) { o.instance_variable_set(:@x, v); o.set_backtrace([v]) }, ->(o) { o.backtrace[0] }
kind :cause, -> { RuntimeError.new("x") }, ->(o, v) { begin; begin; raise v; rescue; raise o; end; rescue; end }, ->(o) { o.cause.message }
kind :stringio, -> { StringIO.new }, ->(o, v) { o.string = v }, ->(o) { o.string }
kind :scanner, -> { StringScanner.new("") }, ->(o, v) { o.string = v; o.scan(/.*/) }, ->(o) { o.matched }
kind :weak_map, -> { [ObjectSpace::WeakMap.new, Object.new, []] }, ->(o, v) { o[2] << v; o[0][o[1]] = v }, ->(o) { o[0][o[1]] }
kind :weak_key_map, -> { [ObjectSpace::WeakKeyMap.new, "key".dup] }, ->(o, v) { o[0][o[1]] = v }, ->(o) { o[0]["key"] }
kind :weakref, -> { [] }, ->(o, v) { o << v << WeakRef.new(v) }, ->(o) { o[1].to_s }
kind :define_method, -> { Class.new }, ->(o, v) { o.define_method(:m) { v } }, ->(o) { o.new.m }
kind :method_object, -> { [] }, ->(o, v) { o << v.method(:to_s) << v.method(:+).unbind.bind(v) }, ->(o) { o[0].call }
kind :curry, -> { [] }, ->(o, v) { o << ->(a, b) { a + b }.curry[v] }, ->(o) { o[0][""] }
kind :dup, -> { Plain.new }, ->(o, v) { o.a = [v].dup; o.b = o.clone }, ->(o) { o.a[0] }
kind :range, -> { [] }, ->(o, v) { o << (v..) << Range.new(v, nil) }, ->(o) { o[1].begin }
kind :data, -> { [] }, ->(o, v) { o << Point.new(v) << Point.new(1).with(x: v) }, ->(o) { o[1].x }
kind :marshal, -> { [] }, ->(o, v) { o.replace(Marshal.load(Marshal.dump([{ v => Pair.new(v, [v]) }]))) }, ->(o) { o[0].values[0].r[0] }
kind :alias_gvar, -> { nil }, ->(_, v) { Thread.new { Thread.current[:x] = v; v }.value.then { $held2 = _1 } }, ->(_) { $held2 }
kind :object_id, -> { {} }, ->(o, v) { o[v.object_id] = v }, ->(o) { o.values[0].object_id == o.keys[0] ? o.values[0] : "lost" }
kind :finalizer, -> { Object.new }, ->(o, v) { ObjectSpace.define_finalizer(o, proc { v }); o.instance_variable_set(:@v, v) }, ->(o) { o.instance_variable_get(:@v) }

objects = $kinds.transform_values { |make, _, _| make.call }
2.times { minor }
3.times do |round|
  $kinds.each { |name, (_, give, _)| next if round > 0 && %i[fiber_stack].include?(name); give.call(objects[name], young("#{name} #{round}")) if round == 0 || %i[ivar attr_writer struct_index set_at hash closure closure_above binding memo hash_large many_ivars].include?(name) }
  churn
  [-> { minor }, -> { GC.start }, -> { minor; minor }][round].call
  churn
  $kinds.each do |name, (_, _, take)|
    got = take.call(objects[name])
    puts "#{round} #{name}: #{got}" unless got.to_s.include?("#{name} ") && got.to_s.include?("youngyoung")
  end
end
puts "#{$kinds.size} kinds"

before = GC.stat(:minor_gc_count), GC.stat(:major_gc_count), GC.count
20.times { GC.start(full_mark: false) }
GC.start
ObjectSpace.garbage_collect(full_mark: false)
after = GC.stat(:minor_gc_count), GC.stat(:major_gc_count), GC.count
p after[0] - before[0] >= 2, after[1] - before[1] >= 1, after[2] == after[0] + after[1]
# Needs the standard library.
