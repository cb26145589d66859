require "yaml"

# What psych 5 does otherwise than psych 4.
def try = yield rescue "#{$!.class}: #{$!.message}"

Size = Data.define(:w, :h)
class Named < Data.define(:name)
  def initialize(name:)
    @seen = [1]
    super
  end
end
puts YAML.dump(Size.new(1, [2])), YAML.dump(Named.new("n")), YAML.dump(Data.define(:a).new(1))
p YAML.unsafe_load(YAML.dump(Size.new(1, [2]))), YAML.unsafe_load(YAML.dump(Named.new("n"))), YAML.unsafe_load("--- !ruby/data:Size\nw: 1\nh: 2\n").frozen?
p try { YAML.unsafe_load("--- !ruby/data:Size\nw: 1\n") }, try { YAML.load(YAML.dump(Size.new(1, 2))) }, YAML.load(YAML.dump(Size.new(1, 2)), permitted_classes: [Size, Symbol])
puts Set[1, "a", [2]].to_yaml
p YAML.unsafe_load(Set[1, "a"].to_yaml), YAML.load(Set[1].to_yaml, permitted_classes: [Set])
puts YAML.dump({a: 1, "b" => {c: [{d: :e}]}}, stringify_names: true), %w[y Y n N].to_yaml
p try { YAML.load("a: &x 1\nb: *x") }, try { YAML.load("a: *x", aliases: true) }, YAML.load("a: &x 1\nb: *x", aliases: true)
p YAML.load("- 1,000\n- 1_0\n- 0b_1\n- 0x_f", strict_integer: true), YAML.load("- 1,000\n- 1_0\n- 0b_1"), YAML.load("- :a\n- ':b'", parse_symbols: false)
p try { YAML.safe_dump({a: 1}) }, YAML.safe_dump({a: :b}, permitted_classes: [Symbol]), YAML.safe_dump({a: 1}, permitted_symbols: [:a]), try { YAML.safe_dump([Size.new(1, 2)]) }
p YAML.safe_load_stream("--- a\n--- [1]\n"), try { YAML.safe_load_stream("--- :a\n") }
YAML.safe_load_stream("--- a\n--- b\n") { |d| p d }
p YAML.unsafe_load(/a\/b/.to_yaml) == %r{a/b}, YAML.dump(Date.new(1500, 1, 1)), YAML.load("1500-01-10", permitted_classes: [Date]).julian?
p YAML.unsafe_load(DateTime.new(2020, 1, 2, 3, 4, 5.25r, "+2").to_yaml)
o = BasicObject.new
def o.encode_with(c) = c["k"] = "v"
def o.class = ::BasicObject
def o.respond_to?(*) = true
puts YAML.dump([o, o]) rescue p $!
# Nothing of it is shared: other VMs dump with their own classes.
YAML.add_tag("!mine", Size)
puts YAML.dump(1)
p RubyVM.fork { YAML.unsafe_load("--- !ruby/data:Size {w: 1, h: 2}") }.value
# Depth costs no native stack.
p Psych::Parser.new(Psych::Handler.new).parse("[" * 3_000 + "]" * 3_000).class
# Needs the standard library.
