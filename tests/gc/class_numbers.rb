# New classes take the numbers of dead ones: no cache of any kind may take one for the other.
SMALL = ENV["ZAKURO_TEST_SCALE"] == "small"
ROUNDS = SMALL ? 8 : 60
N = 12
module Reads
  def read = @value
  def write(v) = (@value = v; @other = v; @value)
  def late = @late
end
module Named
  def name_of = "named #{super rescue "nothing"}"
end
# One site for each kind of use; each round passes other classes by it.
def call(o) = o.hello
def attribute(o) = o.attr
def assign(o, v) = (o.attr = v)
def is?(o, c) = o.is_a?(c)
def when?(o, c) = case o when c then true else false end
def constant(c) = c::VALUE
def make(c) = c.new
def make1(c, v) = c.new(v)
def class_call(c) = c.hi
def responds?(o) = o.respond_to?(:only_odd)
def variable(c) = c.class_variable_get(:@@v)
def super_of(o) = o.name_of
def rescues?(e) = begin; raise e; rescue ArgumentError; :argument; rescue StandardError; :standard; end
def send_it(o) = o.send(:hello)
def block_of(o) = o.each_one { |v| v }
def defined_in(o) = defined?(o.only_odd)
def plus(a, b) = a + b
def equal?(a, b) = a == b
def index(a) = a[0]
def text(o) = "#{o}"

def classes(round)
  Array.new(N) do |i|
    v = [round, i]
    base = Class.new(i.even? ? Object : Object) { define_method(:name_of) { v } } if i % 3 == 0
    c = Class.new(*base) do
      include Reads
      include Named if i % 4 == 0
      (i % 5).times { |k| define_method("filler#{k}") { } }
      if (round + i).odd?
        def initialize(*) = (@a = 1; @attr = 0)
      else
        def initialize(*) = (@attr = 0; @b = 1; @c = 2)
      end
      define_method(:hello) { v }
      attr_accessor :attr
      const_set(:VALUE, v)
      class_variable_set(:@@v, v)
      define_singleton_method(:hi) { v }
      define_method(:only_odd) { } if (round + i).odd?
      define_method(:each_one) { |&b| b.(v) }
      define_method(:+) { |o| [v, :+] }
      define_method(:==) { |o| [v, :==] }
      define_method(:[]) { |o| [v, :[]] }
      define_method(:to_s) { v.inspect }
    end
    c.class_eval("def self.lexical = (self::VALUE; VALUE rescue :none)")
    c
  end
end
wrong = 0
check = ->(is, want) { is == want or (wrong += 1; p [is, want] if wrong < 10) }
ROUNDS.times do |round|
  list = classes(round)
  others = list.rotate
  2.times do
    list.each_with_index do |c, i|
      v = [round, i]
      o = make(c)
      odd = (round + i).odd?
      check.(call(o), v)
      check.(send_it(o), v)
      check.(attribute(o), 0)
      assign(o, v)
      check.(attribute(o), v)
      check.(o.read, nil)
      check.(o.write(i), i)
      check.(o.read, i)
      check.(o.late, nil)
      check.(o.instance_variables, odd ? %i[@a @attr @value @other] : %i[@attr @b @c @value @other])
      check.(is?(o, c), true)
      check.(is?(o, others[i]), false)
      check.(when?(o, c), true)
      check.(when?(o, others[i]), false)
      check.(is?(o, Named), i % 4 == 0)
      check.(constant(c), v)
      check.(make1(c, 1).class, c)
      check.(class_call(c), v)
      check.(responds?(o), odd)
      check.(defined_in(o), odd ? "method" : nil)
      check.(variable(c), v)
      check.(block_of(o), v)
      check.(plus(o, 1), [v, :+])
      check.(equal?(o, 1), [v, :==])
      check.(index(o), [v, :[]])
      check.(text(o), v.inspect)
      check.(super_of(o), i % 4 == 0 ? "named #{i % 3 == 0 ? v : "nothing"}" : v) if i % 4 == 0 || i % 3 == 0
      e = Class.new(i.even? ? ArgumentError : StandardError)
      check.(rescues?(e), i.even? ? :argument : :standard)
      s = Object.new
      i.even? ? s.extend(Named) : s.define_singleton_method(:hello) { i }
      check.((call(s) rescue :none), i.even? ? :none : i)
      check.(o.singleton_class.ancestors.include?(c), true)
    end
  end
  check.(Object.subclasses.count { |c| list.include?(c) }, list.count { |c| c.superclass == Object })
  list = others = nil
  GC.start
end
p wrong
p Reads.instance_methods(false).sort

# Modules of a subclass of Module, and copies of modules, have singleton methods of their own.
class Kind < Module; end
a, b = Kind.new, Kind.new
def a.which = :a
def b.which = :b
c = Module.new { def self.which = :c }
d = c.dup
def d.which = :d
p [a, b, c, d, a].map { |m| m.which }
p [a.class, b.class, a.dup.class, d.class, c.clone.which]
