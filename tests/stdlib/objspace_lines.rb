# What the line of an object tells: content and encoding of Strings, lengths, identities, what may be shared among Ractors.
require "objspace"
require "json"

show = ->(object, *names) { JSON.parse(ObjectSpace.dump(object)).slice(*names) }
text = %w[type bytesize value encoding coderange broken frozen]
[+"", +"abc", "frozen".freeze, +"q\"\\\n\t\e\x7f", +"\u00e4", +"\xff", "abc".b, "\xff".b, "ab".encode("UTF-16LE"), "\xe4".dup.force_encoding("ISO-8859-1"), "a".encode("US-ASCII"), "\xff".dup.force_encoding("US-ASCII"),
 "x" * 200, ("y" * 100_000), "\u00e4" * 70_000, "ab".dup.force_encoding("ISO-2022-JP"), Class.new(String).new("sub")].each do |s|
  s.valid_encoding?
  line = show[s, *text]
  line["value"] = [line["value"].size, line["value"][0, 5]] if line["value"].to_s.size > 50
  p line
end
p show[[1, "a", nil], "type", "length"], show[{a: 1}, "type", "size"], show[Struct.new(:a).new(1), "type"], show[1.0e300, "type", "value"], show[2**80, "type"], show[1..2, "frozen"]
o = Object.new
3.times { |i| o.instance_variable_set(:"@v#{i}", i) }
p show[o, "type", "ivars"], show[String, "type", "name"], show[Kernel, "type", "name"], show[Class.new, "name"], show[o.singleton_class, "singleton"]
p [+"a", "a".freeze, [1].freeze, [+"a"].freeze, Object, Comparable, o].map { |v| JSON.parse(ObjectSpace.dump(v))["flags"]["shareable"] }
inner = [1]
outer = [inner, 1, :a, nil]
p JSON.parse(ObjectSpace.dump(outer))["references"] == [JSON.parse(ObjectSpace.dump(inner))["address"]], JSON.parse(ObjectSpace.dump(inner))["references"]
class String
  def ==(other) = raise("nobody asked")
  def bytesize = raise("nobody asked")
  def encoding = raise("nobody asked")
end
class Array
  def size = raise("nobody asked")
end
p ObjectSpace.dump(+"abc")[/"bytesize":3/], ObjectSpace.dump([1, 2])[/"length":2/], ObjectSpace.dump_all(output: :string).include?("\"type\":\"ROOT\"")
