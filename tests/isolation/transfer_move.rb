# move: true
ch = RubyVM::Channel.new
class Item; attr_accessor :a, :b; end
moved = lambda do |x|
  Ractor::MovedObject.equal?(Kernel.instance_method(:class).bind_call(x)) ? :moved : x.inspect
rescue Ractor::MovedError
  :moved
end
item = Item.new
item.a = inner = ["x" * 1000]
item.b = { key: "value" }
big = inner[0]
frozen = "frozen".freeze
shareable = [1, :a, "b".freeze].freeze
list = [item, frozen, shareable, 1, Item, "s", 2.5, 1..2, ["t"].freeze, ch]
rest = list.drop(5)
ch.send(list, move: true)
p [list, item, inner, big, frozen, shareable].map(&moved), rest.map(&moved)
got = ch.recv
p got.size, got[0].a[0].size, got[0].b, got[5], got[8]
[[:size], [:==, 1], [:inspect], [:class], [:nil?], [:instance_variable_get, :@a], [:object_id], [:frozen?], [:equal?, 1]].each do |m, *args|
  list.__send__(m, *args)
  puts "#{m}: no error"
rescue Ractor::MovedError => e
  puts "#{m}: #{e.message}"
end
def try
  yield
rescue => e
  e.class
else
  :fine
end
str = +"moved string"
ch.send(str, move: true)
p try { "#{str}" }, try { "a" + str }, try { str << "x" }, try { [str].join }, try { str.size }
arr = [1, 2, 3, 4]
ch.send(arr, move: true)
p try { [0] + arr }, try { arr << 1 }, try { arr[0] }, try { arr.each {} }
hash = { a: 1 }
ch.send(hash, move: true)
p try { hash[:a] }, try { hash.each {} }
# What is an instruction rather than a call raises, too; so does what asks for a conversion.
p [arr, hash, str].map { |m| [try { !m }, try { not m }, try { m.nil? }, try { m != 1 }, try { m == m }, try { m.equal?(m) }, try { m.inspect }] }
obj = Item.new
ch.send(obj, move: true)
p try { !obj }, try { obj.nil? }, try { p obj }, try { "a" == str }, try { [] == arr }, try { {} == hash }, try { 1 == obj }, try { :a == obj }
p try { [*arr] }, try { a, b = arr }, try { "%s" % str }, try { [1].map(&obj) }, try { { obj => 1 } }, try { Array(arr) }
p try { case arr when Array then 1 else 2 end }, try { case arr; in [] then 1 end }, try { def obj.x = 1 }, try { obj ? 1 : 2 }
# Nothing moves when something can't.
keep = ["keep", Mutex.new]
p try { ch.send(keep, move: true) }, keep.size
# Or when nothing was sent.
closed = RubyVM::Channel.new
closed.close
text = +"text"
p try { closed.send(text, move: true) }, text
full = RubyVM::Channel.new(1)
full << 1
p full.send(text, move: true, timeout: 0), text
# In use: a constant, an instance variable, an iteration, a Hash key, an inline cache.
KEPT = [1, 2]
class Item
  def read = @a
end
one = Item.new
one.a = 1
reads = ->(i) { i.read }
3.times { reads.(one) }
ch.send([KEPT, one], move: true)
p try { KEPT.size }, try { reads.(one) }
walk = [1, 2, 3, 4, 5]
seen = []
p try { walk.each { |x| seen << x; ch.send(walk, move: true) if x == 2 } }, seen
walk = [1, 2, 3, 4, 5, 6, 7, 8]
p try { walk.map! { |x| ch.send(walk, move: true) if x == 2; x } }
walk = [3, 1, 2, 5, 4, 9, 8]
p try { walk.sort! { |a, b| (ch.send(walk, move: true); walk = nil) if walk; a <=> b } }
walk = [3, 1, 2, 5, 4, 9, 8]
p try { walk.sort_by! { |a| (ch.send(walk, move: true); walk = nil) if walk; a } }
walk = (1..20).to_a
p try { walk.reject! { |a| (ch.send(walk, move: true); walk = nil) if walk; a.odd? } }
walk = (1..20).to_a
p try { walk.select! { |a| (ch.send(walk, move: true); walk = nil) if walk; a.odd? } }
walk = (1..20).to_a
p try { walk.fill { |a| (ch.send(walk, move: true); walk = nil) if walk; a } }
walk = (1..20).to_a
p try { walk.uniq! { |a| (ch.send(walk, move: true); walk = nil) if walk; a } }
walk = { a: 1, b: 2, c: 3 }
p try { walk.each { |k, v| ch.send(walk, move: true) if v == 2 } }
walk = { a: 1, b: 2, c: 3 }
p try { walk.transform_values! { |v| (ch.send(walk, move: true); walk = nil) if walk; v } }
walk = { a: 1, b: 2, c: 3 }
p try { walk.delete_if { |k, v| (ch.send(walk, move: true); walk = nil) if walk; true } }
walk = +"abcabc"
p try { walk.gsub!(/b/) { (ch.send(walk, move: true); walk = nil) if walk; "x" } }
key = ["key"]
table = { key => 1 }
ch.send(key, move: true)
p table.size, try { table[["key"]] }
GC.start
p ch.size
ch.recv until ch.empty?
# Ractors
r = Ractor.new { Ractor.receive << "!" }
s = +"to a Ractor"
r.send(s, move: true)
p r.value, moved.(s)
port = Ractor::Port.new
s = +"to a port"
port.send(s, move: true)
p port.receive, moved.(s)
