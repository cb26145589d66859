# Keys that have a `hash` of their own, or a class of their own.
class Money
  def self.hash = 7
  def self.eql?(other) = other.respond_to?(:name) && other.name.start_with?("Mon")
end
class Month < Money; end

before = { String => 1, Comparable => 2, Integer => 3 }
table = { Money => :first }
p table[Month], table.key?(String), table.size

odd = Module.new { def self.hash(_) = 0 }
begin
  { odd => 1 }
rescue ArgumentError => e
  p e.message
end

# Tables from before such a method still find their keys.
p before[String], before[Comparable], before[Integer], String.hash == String.dup.hash, String.hash == String.hash

module Numbered
  def hash = 42
end
plain = Class.new { extend Numbered }
other = Class.new { extend Numbered }
p plain.hash, { plain => 1, other => 2 }.size

# Strings of a subclass stay what they are; those of String are copied.
class Literal < String; end
literal, text = Literal.new("a"), +"b"
h = { literal => 1, text => 2 }
p h.keys.map(&:class), h.keys[0].equal?(literal), literal.frozen?, h.keys[1].equal?(text), h.keys[1].frozen?
p [literal].uniq[0].class, [literal].group_by(&:itself).keys[0].class, [literal].to_h { |s| [s, 1] }.keys[0].class
p({}.tap { |x| x[literal] = 1 }.keys[0].class, h["a"], h[Literal.new("b")])
