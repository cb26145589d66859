# Call sites with receivers of several shapes in turn: what a site remembers of one must not serve another, nor outlive a change.
class Shape
  def initialize(*names) = names.each { |n| instance_variable_set("@#{n}", n) }
  def area(scale = 1, unit: :m) = [self.class.name, scale, unit]
  def each_side(count = 2) = count.times { |i| yield i, self.class.name }
  attr_reader :kind
  attr_writer :kind
  def label = @label
  def label=(v)
    @label = v
  end
end
class Square < Shape; end
class Circle < Shape
  def area(scale = 2, unit: :cm) = super
end
class Line < Shape
  def area(*) = :none
end
class Strange < Shape
  def method_missing(name, *rest) = [:missing, name, rest]
  def respond_to_missing?(*) = true
  undef area
end
ALL = [Square.new, Circle.new, Line.new, Strange.new, Square.new(:kind), Circle.new(:other, :kind), Square.new(:label, :kind)]

def plain(o) = o.area
def optional(o) = o.area(5)
def keyword(o) = o.area(unit: :km)
def both(o) = o.area(7, unit: :mm)
def splat(o, *a) = o.area(*a)
def block(o) = [].tap { |all| o.each_side { |*a| all << a } }
def block_bound(o) = [].tap { |all| o.each_side(1) { |*a| all << a } }
def reader(o) = o.kind
def writer(o, v) = o.kind = v
def ivar(o) = o.label
def set_ivar(o, v) = o.label = v

3.times do |round|
  seen = ALL.map { |o| [plain(o), optional(o), keyword(o), both(o), splat(o, 9), block(o), block_bound(o), reader(o), ivar(o)] }
  p seen if round == 2
end
ALL.each_with_index { |o, i| writer(o, i); set_ivar(o, -i) }
p ALL.map { |o| [reader(o), ivar(o), o.instance_variables] }

# A redefinition reaches entries that are not in front.
class Square
  def area(scale = 10, unit: :new) = [:redefined, scale, unit]
end
p ALL.map { |o| [plain(o), optional(o), keyword(o), splat(o, 9)] }
ALL[1].freeze
p((set_ivar(ALL[1], 1) rescue $!.class), (writer(ALL[1], 1) rescue $!.class))
def (ALL[0]).area(*) = :singleton
p ALL.map { |o| plain(o) }

# The same with visibility: a protected method's right to be called depends on the caller.
class Guarded
  def secret = :secret
  protected :secret
  def ask(o) = o.secret
end
class Open
  def secret = :open
end
g = Guarded.new
2.times { p [g, Open.new].map { |o| g.ask(o) } }
def outside(o) = o.secret
p [Open.new, g, Open.new].map { |o| outside(o) rescue $!.class }

# A keyword site whose methods are of different kinds.
class Native; end
NATIVE = Struct.new(:a, :b, keyword_init: true)
class Made
  def initialize(a:, b: 2) = @all = [a, b]
  attr_reader :all
end
def make(c) = c.new(a: 1, b: 3)
HASHES = Class.new { def self.new(**all) = all }
3.times { p [NATIVE, Made, HASHES].map { |c| o = make(c); o.is_a?(Made) ? o.all : o.to_h } }
def call(o) = o.call(a: 1)
p [proc { |a: 0| [:proc, a] }, ->(a:) { [:lambda, a] }, Class.new { def call(a: 5) = [:ruby, a] }.new, Class.new { define_method(:call) { |**k| k } }.new].cycle(2).map { |o| call(o) }

# `super` of one method on behalf of many classes, and after changes above it.
module Loud
  def say(x) = "#{super}!"
end
class Top
  def say(x) = "top #{x}"
end
kinds = Array.new(6) { |i| Class.new(Top) { include Loud; define_method(:i) { i } } }
middle = Class.new(Top) { def say(x) = "middle #{super}" }
kinds << Class.new(middle) { prepend Loud } << Class.new(middle) { include Loud; def say(x) = "own #{super}" }
2.times { puts kinds.map { |k| k.new.say(1) }.tally.map(&:inspect) }
kinds[2].include(Module.new { def say(x) = "between #{super}" })
puts kinds.map { |k| k.new.say(2) }.tally.map(&:inspect)
class Top
  def say(x) = "other #{x}"
end
puts kinds.map { |k| k.new.say(3) }.tally.map(&:inspect)
Top.send(:remove_method, :say)
puts kinds.map { |k| k.new.say(4) rescue $!.class }.tally.map(&:inspect)
class Top
  def method_missing(name, *a) = "no #{name}#{a}"
end
puts kinds.map { |k| k.new.say(5) }.tally.map(&:inspect)

# Classes and code that go away: their numbers and caches serve others afterwards.
def any(o) = o.v
40.times do |i|
  c = Class.new { class_eval "def v = #{i}; def w = (@x = #{i}; @y ||= @x)" }
  o = c.new
  raise "v" unless any(o) == i && o.w == i && any(Struct.new(:v).new(i)) == i
  GC.start if i % 10 == 9
end
p :done
