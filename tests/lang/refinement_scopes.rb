module Ints
  refine Integer do
    def +(other) = "plus #{other}"
    def to_s = "refined"
    def twice = times_two
    def times_two = self * 2
  end
end
def before = 1 + 2
module Inside
  using Ints
  P = 1 + 2
  S = "#{5}"
  T = 4.twice
  def self.later(x) = x + 1
end
p Inside::P, Inside::S, Inside::T, Inside.later(3), before, 1 + 2
begin
  4.twice
rescue NoMethodError => e
  puts e.message
end

module Front
  def hi = "front of #{super}"
end
class Greeter
  prepend Front
  def hi = "hi"
end
module Polite
  refine Greeter do
    def hi = "dear, #{super}"
  end
end
module Ruder
  refine Greeter do
    def hi = "hey! #{super}"
  end
end
module One
  using Polite
  A = Greeter.new.hi
  using Ruder
  B = Greeter.new.hi
  C = Greeter.new.send(:hi)
  D = [Greeter.new].map(&:hi)
  E = Greeter.new.method(:hi).call
  p Module.used_modules
end
p One::A, One::B, One::C, One::D, One::E, Greeter.new.hi

module Helpers
  def boxed = "[#{self}]"
  def double_boxed = "[#{boxed}]"
end
module Boxes
  refine(String) { import_methods Helpers }
end
module UsesBoxes
  using Boxes
  p "x".double_boxed
end
p "x".respond_to?(:boxed)

# One method body, defined under different refinements.
def make(refinements)
  Module.new do
    using refinements
    def self.run = "a".speak
  end
end
loud = Module.new { refine(String) { def speak = upcase } }
calm = Module.new { refine(String) { def speak = "(#{self})" } }
a, b = make(loud), make(calm) rescue p $!.message
r = nil
Module.new { r = refine(Array) {} }
p r.class, r.target
begin
  Module.new { refine(String) }
rescue ArgumentError => e
  puts e.message
end
begin
  Module.new { refine(3) {} }
rescue TypeError => e
  puts e.message
end
