# Class variables that come, go and move between ancestors while the same code reads them.
class Base
  def self.set(v) = @@v = v
  def self.get = @@v
end
class Child < Base
  def get = @@v
  def set(v) = @@v = v
  def self.late = @@late
end
def try
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end
c = Child.new
3.times { try { c.get } }
Base.set(1)
3.times { |i| try { c.get }; c.set(i) }
try { Base.get }
Base.remove_class_variable(:@@v)
try { c.get }
c.set(5)
try { c.get }
try { Base.get }
Base.set(6)
try { c.get }
Child.remove_class_variable(:@@v)
try { c.get }
module Mod
  @@late = :module
end
try { Child.late }
class Child
  include Mod
end
2.times { try { Child.late } }
Mod.remove_class_variable(:@@late)
try { Child.late }
Child.class_variable_set(:@@late, :own)
2.times { try { Child.late } }
Base.class_variable_set(:@@late, :above)
try { Child.late }
Base.remove_class_variable(:@@late)
try { Child.late }
copy = Child.clone
Child.class_variable_set(:@@late, :changed)
try { [copy.class_variable_get(:@@late), Child.late] }
Child.freeze
class Base
  @@w = 1
  def self.w=(v)
    @@w = v
  end
  def self.w = @@w
end
2.times { |i| Base.w = i; try { Base.w } }
Base.freeze
try { Base.w = 3 }
try { Base.w }
# Many scopes and names share the cache.
list = (0...200).map do |i|
  k = Class.new
  Object.const_set("K#{i}", k)
  Object.class_eval "class K#{i}; @@a = #{i}; @@b = -#{i}; def self.sum = @@a + @@b; def self.up = @@a += 1; end"
  k
end
3.times { list.each(&:up) }
p list.sum(&:sum)
GC.start
p list.map(&:up).last(2)
