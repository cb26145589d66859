# Builtins that answer without a frame, in machine code, and where they have no answer.
class Key
  attr_reader :n
  def initialize(n) = @n = n
  def hash = @n
  def eql?(other) = other.is_a?(Key) && other.n == @n
end
class Loud
  def respond_to_missing?(name, all) = name == :anything
  private def hidden = 1
end
VALUES = [1, 2.5, -0.0, Float::NAN, Float::INFINITY, -1e300, 2.0**61, -(2.0**62), 0.5, -1.5, 2**70, :a, "b", nil, true, [], [3, nil], {}, Key.new(1), Loud.new, Object, Comparable]
HASH = { 1 => :one, a: nil, "b" => 2, nil => 3, Key.new(1) => 4, 2.5 => 5 }

def ask(v)
  yield v
rescue StandardError => e
  "#{e.class}: #{e.message.lines.first.chomp.gsub(/0x\h+/, "0x")}"
end
def all(rounds)
  told = nil
  rounds.times do
    told = VALUES.map do |v|
      [
        v.is_a?(Comparable), v.kind_of?(Numeric), v.instance_of?(Float), v.class, v.respond_to?(:anything), v.respond_to?(:hidden), v.respond_to?(:to_s),
        HASH.key?(v), ask(v) { HASH.fetch(it) }, ask(v) { it.to_i }, ask(v) { it.round }, ask(v) { it.floor }, ask(v) { it.ceil }, ask(v) { it.truncate },
        ask(v) { it.first }, ask(v) { it.last }, ask(v) { it <=> 2 }, ask(v) { it.size }, ask(v) { it.length }
      ]
    end
  end
  told
end
all(1500).zip(VALUES) { |told, v| puts "#{v.class}: #{told.inspect.gsub(/0x\h+/, "0x")}" }

def classes(v, list, rounds)
  n = 0
  rounds.times { |i| n += 1 if v.is_a?(list[i % list.size]) }
  n
end
p classes(3, [Integer, Comparable, String], 30_000)
begin
  classes(3, [Integer, 4], 30_000)
rescue TypeError => e
  puts e.message
end

def lengths(list, rounds)
  sum = 0
  rounds.times { |i| sum += list[i % list.size].length }
  sum
end
texts = ["abc", "häuser", "日本語", "\xff\xfe", "ab".encode("UTF-16LE"), "\xE3\x81".b, "e\u0301"]
p lengths(texts, 30_000)
s = +"abc"
p lengths([s], 30_000)
s << "ä"
p lengths([s], 7)
s.force_encoding("BINARY")
p lengths([s], 7)

identity = {}.compare_by_identity
identity["x"] = 1
p (1..30_000).count { identity.key?("x".dup) }
strange = Hash.new { |h, k| "none of #{k}" }
p (1..30_000).map { |i| strange.fetch(i & 1, :absent) }.tally
p (1..3).map { |i| strange.key?(i) }
class Integer
  def <=>(other) = 42
end
p [3 <=> 4, 3.is_a?(Integer)]
