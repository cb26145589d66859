# Calls on nil, true, false, Symbols and numbers from machine code: builtins, methods of the program, ones that come later, several kinds in turn.

class NilClass
  def blank? = true
  def to_list = []
end
class TrueClass
  def blank? = false
end
class FalseClass
  def blank? = true
end
class Symbol
  def blank? = empty?
end
class Integer
  def blank? = false
end
class Float
  def blank? = nan?
end

VALUES = [nil, true, false, :a, :"", :"ä ö", 0, -5, 2**62 - 1, 1.5, 0.0, -0.0]

def one_kind(v, n)
  r = nil
  n.times { r = [v.blank?, v.inspect, v.hash == v.hash, v.frozen?] }
  r
end
VALUES.each { |v| one_kind(v, 200).then { |r| p r } }

def in_turn(n)
  counts = Hash.new(0)
  n.times do |i|
    v = VALUES[i % VALUES.size]
    counts[v.blank?] += 1
    counts[v.class] += 1
    counts[v.to_s.size] += 1
  end
  counts
end
p in_turn(1200)

def conversions(n)
  s = 0
  i = 0
  while i < n
    s += nil.to_i + nil.to_a.size + :abc.size + :"äö".length + nil.to_s.size
    s += 1 if :"".empty? && !:x.empty?
    s += 1 if nil.to_r == 0 && nil.to_f.zero? && nil & true == false
    s += (true & 1 ? 1 : 0) + (false | nil ? 1 : 0) + (true ^ true ? 1 : 0)
    i += 1
  end
  s
end
p conversions(500)

# A length that objects answer for themselves, and builtin ones of other classes.
class Bag
  def initialize(n) = @n = n
  def size = @n
  def length = -@n
  def empty? = @n == 0
end
require "set"
LISTS = [Bag.new(0), Bag.new(3), Set[1, 2], Set[], :sym, :"", [1], [], "text", "", { a: 1 }, {}, Struct.new(:a).new(1)]
def lengths(list, n)
  s = 0
  e = 0
  n.times do
    s += list.size
    e += 1 if list.respond_to?(:empty?) && list.empty?
  end
  [s, e]
end
LISTS.each { |l| p lengths(l, 150) }
def all_lengths(n)
  n.times.sum { |i| LISTS[i % LISTS.size].length }
end
p all_lengths(650)
begin
  lengths(5, 3).then { |r| p r }
  lengths(nil, 3)
rescue NoMethodError => e
  puts e.message
end

# What a class answers changes while machine code runs.
def ask(n)
  found = []
  n.times do |i|
    found << [nil.blank?, :a.blank?, true.to_s, :sym.size] if i % 100 == 0
    case i
    when 350 then NilClass.class_eval { def blank? = :later }
    when 450 then Symbol.class_eval { def size = 99 }
    when 550 then TrueClass.class_eval { def to_s = "yes" }
    when 650 then Symbol.class_eval { remove_method :size; def blank? = :other }
    when 750 then TrueClass.class_eval { remove_method :to_s }
    end
  end
  found
rescue NoMethodError => e
  [found, e.message]
end
p ask(901)

module Answers
  refine NilClass do
    def blank? = :refined
  end
end
module Scope
  using Answers
  def self.ask(n)
    r = nil
    n.times { r = nil.blank? }
    r
  end
end
p Scope.ask(300), one_kind(nil, 5)[0]

# Singleton methods of nil are those of its class; missing ones say so.
def nil.own = 7
def own(n)
  s = 0
  n.times { s += nil.own }
  s
end
p own(300)
def missing(n)
  n.times { |i| (i == n - 1 ? :symbol : nil).own }
end
begin
  missing(300)
rescue NoMethodError => e
  puts e.message
end
