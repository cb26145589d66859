# Old objects that come to point at young ones, in every kind of slot.
scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 60 : 4_000
class Box; attr_accessor :v; end
array = Array.new(50)
hash = {}
box = Array.new(50) { Box.new }
struct = Struct.new(:a).new
local = nil
$global = nil
closure = -> { local = "local #{_1}" }
5.times { GC.start }
ok = true
scale.times do |i|
  k = i % 50
  array[k] = "array #{i}"
  hash[k] = "hash #{i}"
  box[k].v = ["box #{i}"]
  struct.a = "struct #{i}"
  $global = "global #{i}"
  closure.call(i)
  20.times { |j| "noise #{j}" * 2 }
  ok &&= array[k] == "array #{i}" && hash[k] == "hash #{i}" && box[k].v == ["box #{i}"] && struct.a == "struct #{i}" && $global == "global #{i}" && local == "local #{i}"
end
p ok
p (0...50).all? { |k| array[k].start_with?("array ") && box[k].v[0].start_with?("box ") && hash[k].start_with?("hash ") }
