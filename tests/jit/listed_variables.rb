# Instance variables of what has no layout: classes, modules, and objects of the core's classes. Their sites remember a place in a list.

module Counts
  def tick
    @ticks = (@ticks || 0) + 1
  end
  def ticks = @ticks
  def setup(*names) = names.each_with_index { |n, i| instance_variable_set(n, i) }
  def drop(name) = remove_instance_variable(name)
  def third = @third
  def third=(v)
    @third = v
  end
end

class Plain
  include Counts
end
class Words < Array
  include Counts
  attr_accessor :third, :unset
end
class Text < String
  include Counts
end
class Setting
  extend Counts
  class << self
    attr_accessor :value, :never
    attr_reader :third
  end
end
module Options
  extend Counts
end

# One site, selves of every kind, their variables in different order.
selves = [Plain.new, Words.new, Text.new("x"), Setting, Options, Class.new { extend Counts }, Random.new(1).extend(Counts), 5..6]
selves[-1] = Object.new.extend(Counts)
selves.each_with_index { |s, i| s.setup(*%i[@first @third @second].rotate(i)) }
200.times { selves.each(&:tick) }
p selves.map(&:ticks), selves.map(&:third)
40.times { |i| selves.each { |s| s.third = i } }
p selves.map(&:third)

# A variable that goes makes those behind it move up.
selves.each { |s| s.drop(:@first) }
p selves.map(&:third)
selves.each { |s| s.drop(:@third) }
p selves.map(&:third), selves.map(&:ticks)
selves.each { |s| s.third = :again }
p selves.map(&:third), selves.map(&:ticks), Setting.instance_variables, Words.new.third

# Readers and writers.
def read(o) = [o.third, o.third]
words = [Words.new, Words.new, Words.new]
words[0].third = 1
words[2].setup(:@a, :@b, :@third)
60.times { words.each { |w| read(w) } }
p words.map { read(_1) }, words.map(&:unset)
Setting.value = [1]
50.times { Setting.value += [2] if Setting.value.size < 5 }
p Setting.value, Setting.never, Setting.third

# Frozen ones.
def try
  yield
rescue FrozenError => e
  e.message.sub(/0x\h+/, "0x")
end
[Words.new([1]).freeze, Text.new("t").freeze, Class.new { extend Counts; def self.inspect = "C" }.freeze].each do |f|
  p try { f.third = 1 }, f.third
end
late = Text.new("late")
p (1..40).map { |i| late.freeze if i == 39; try { late.third = i } }.last(3)

# Values are kept by what has them, through collections.
keep = Class.new { extend Counts }
list = Words.new
20.times do |i|
  keep.third = "kept #{i}"
  list.third = "listed #{i}"
  GC.start(full_mark: i.odd?)
  200.times { "garbage" * 3 }
  raise "lost" unless keep.third == "kept #{i}" && list.third == "listed #{i}"
end
p keep.third, list.third

# A VM that is forked changes its own.
Setting.third = "parent's"
told = RubyVM.fork do
  before = Setting.third
  Setting.third = "child's"
  [before, Setting.third]
end.value if RubyVM.respond_to?(:fork)
p told || ["parent's", "child's"], Setting.third

# The class of objects of many shapes, also after they got one of their own.
objects = (0...100).map { |i| o = Object.new; i.times { |k| o.instance_variable_set(:"@v#{k}", k) }; o }
p objects.map(&:class).uniq
objects.each_with_index { |o, i| i.odd? ? o.singleton_class : o.extend(Counts) }
p objects.map(&:class).uniq
300.times do |round|
  made = Class.new
  o = made.new
  raise "class of another" unless o.class.equal?(made) && (o.extend(Comparable); o.class.equal?(made)) && made.class == Class
  GC.start if round % 60 == 59
end
p [1, nil, :a, 1.5, "s", [], {}, 1..2, String, Comparable, Module.new, Class.new(Module).new.class.superclass].map { _1.class }
