# What a dump says of Arrays and Strings whose content several have, and of Hashes with a default; a program's own idea of which Strings are equal doesn't matter.
require "objspace"
list = Array.new(1000, 1)
text = "x" * 1000
show = ->(object) { ObjectSpace.dump(object).scan(/"(?:embedded|shared|default|length|size)":[^,"}]*/) }
p show[list]
# Held, or the list would be alone again.
held = [list.dup, list[5..], list[1, 30], list[5, 3], list]
held.each { |one| p show[one] }
own = list.dup
own << 1
p show[own], show[[1, 2, 3]], show[[1, 2, 3].dup]
p [text, text.dup, text[1..], text[0, 5], "abc"].map { |one| show[one].grep(/embedded|shared/) }
p show[Hash.new { 1 }].size, show[Hash.new(1)], show[{}], show[Hash.new { 1 }.tap { |h| h.default = 2 }]
block = proc { 1 }
p ObjectSpace.dump(Hash.new(&block))[/"default":"(0x\h+)"/, 1] == ObjectSpace.dump(block)[/0x\h+/]

class String
  def ==(other) = raise("asked")
  alias eql? ==
  alias === ==
end
objects = [1, "a", :a, [1], { 1 => 2 }, 1.5, Object.new, Class.new, Module.new, Struct.new(:a).new(1), /a/, $stdout, Hash.new {}, "é", "x" * 100, 2**70, proc {}, nil, "é\xff", Object.new.singleton_class, "a".match(/a/), [:__internal, "a", 3]]
objects.each { |object| puts ObjectSpace.dump(object)[/"type":"\w+"|\A[^{]+/] }
p ObjectSpace.dump_all(output: :string).size.positive?, ObjectSpace.count_tdata_objects.size.positive?, ObjectSpace.count_imemo_objects.size.positive?
p ObjectSpace.reachable_objects_from([:__internal, "a", [3]]).size
ObjectSpace.trace_object_allocations { one = [1]; p ObjectSpace.allocation_sourceline(one).equal?(__LINE__) }
