# Without --gc=stress. A dump is closed: whatever a line refers to has a line, classes and what VMs share among it; each once.
require "objspace"
require "json"

class Apart
  def self.own = 1
  def given = proc { self }
end
extended = Object.new
def extended.own = 2
kept = [extended, Apart.new.given, Apart.new.method(:given), Set[Apart], { Apart => "text".dup }, Struct.new(:a).new(1), BasicObject.new, (1 << 80), 1r, $stdout]
lines = ObjectSpace.dump_all(output: :string).lines.map { |line| JSON.parse(line) }
listed = lines.filter_map { |line| line["address"] }
referred = lines.flat_map { |line| [*line["references"], line["class"], line["superclass"]].compact }.uniq
p listed.size == listed.uniq.size, (referred - listed).size
p %w[String Kernel Apart Comparable ObjectSpace].map { |name| lines.count { |line| line["name"] == name } }
# What was there before the dump is in it, and refers to what it did.
at = ->(object) { JSON.parse(ObjectSpace.dump(object))["address"] }
array = lines.find { |line| line["address"] == at[kept] }
p kept.map { |one| array["references"].include?(at[one]) }.uniq, array["references"].size == kept.size
p at[Apart.singleton_class].then { |one| listed.include?(one) }, lines.any? { |line| line["imemo_type"] == "ment" }
