# What machine code knows of other classes changes while loops run that use it.
class Point
  attr_accessor :x, :y
  def initialize(x, y)
    @x = x
    @y = y
  end
  def sum = @x + @y
  def ==(o) = o.is_a?(Point) && o.x == x
end
class Bare; end

LOOPS = {
  floats: ->(n, &b) { f = 0.5; n.times { |i| b[] if i == n / 2; f = f * 0.75 + i - 1.5; f = -f if f > 900.0 }; f.round(6) },
  float_compare: ->(n, &b) { c = 0; f = 0.0; while f < n; b[] if f == n / 2; c += 1 if f >= 10.0 && f <= 20.0; c += 2 if f == 30.0; f += 1.0; end; c },
  index: ->(n, &b) { a = [1, 2, 3]; s = 0; n.times { |i| b[] if i == n / 2; s += a[i % 4] || 7; a[i % 3] = i & 3 }; [s, a] },
  push: ->(n, &b) { a = []; n.times { |i| b[] if i == n / 2; a << i if a.size < 50; a.pop if a.size > 40; a.push(i) if a.empty? }; [a.size, a.sum] },
  hash: ->(n, &b) { h = {a: 1}; s = 0; n.times { |i| b[] if i == n / 2; s += h[:a]; s += h[i & 7] || 3; h[i & 15] = i & 1 }; [s, h.size] },
  attributes: ->(n, &b) { q = Point.new(1, 2); n.times { |i| b[] if i == n / 2; q.x = q.y + 1; q.y = q.x % 5 }; [q.sum, q.x] },
  create: ->(n, &b) { s = 0; n.times { |i| b[] if i == n / 2; s += Point.new(i, 1).sum; s += 1 if Bare.new }; s },
  equal: ->(n, &b) { q = Point.new(1, 2); s = 0; n.times { |i| b[] if i == n / 2; s += 1 if q == q; s += 2 if q != i; s += 4 if "ab" == "a#{:b}"; s += 8 if nil == i }; s },
  not: ->(n, &b) { q = Point.new(1, 2); s = 0; n.times { |i| b[] if i == n / 2; s += 1 if !q; s += 2 unless q.nil?; s += 4 if nil.nil?; s += 8 if !nil }; s },
  case: ->(n, &b) { s = 0; n.times { |i| b[] if i == n / 2; s += case i when Float then 1 when 1..20 then 2 when Integer then 3 else 4 end }; s },
  each: ->(n, &b) { s = 0; (n / 10).times { |i| b[] if i == n / 20; [1, 2, 3].each { |v| s += v } }; s },
  upto: ->(n, &b) { s = 0; 1.upto(n) { |i| b[] if i == n / 2; s += i }; s },
  range: ->(n, &b) { s = 0; (1..n).each { |i| b[] if i == n / 2; s += i }; s },
  map: ->(n, &b) { s = 0; (n / 10).times { |i| b[] if i == n / 20; s += [1, 2].map { |v| v + i }.inject { |m, v| m + v } }; s },
  strings: ->(n, &b) { t = +"abc"; s = 0; n.times { |i| b[] if i == n / 2; s += t.size; s += t.getbyte(1) || 0; t << "x" if t.size < 9; s += 1 if t.empty? }; s },
  calls: ->(n, &b) { s = 0; n.times { |i| b[] if i == n / 2; s += helper(i) }; s },
  constants: ->(n, &b) { s = 0; n.times { |i| b[] if i == n / 2; s += CONST }; s },
}
def helper(i) = i & 3
CONST = 2
N = 2000
def run(name) = LOOPS.fetch(name).call(N) { yield }
LOOPS.each_key { |name| puts "#{name}: #{run(name) {}}" }

class Point
  def none = 0
end
CHANGES = [
  [:floats, "class Float; alias o +; def +(x) = o(x).o(1.0); end", "class Float; alias + o; end"],
  [:floats, "class Float; alias o *; def *(x) = o(x) / 2; end", "class Float; alias * o; end"],
  [:floats, "class Float; alias o -@; def -@ = 1.0; end", "class Float; alias -@ o; end"],
  [:floats, "class Float; alias o >; def >(x) = !o(x); end", "class Float; alias > o; end"],
  [:float_compare, "class Float; alias o >=; def >=(x) = o(x) && self != 11.0; end", "class Float; alias >= o; end"],
  [:float_compare, "class Float; alias o ==; def ==(x) = o(x) || o(31.0); end", "class Float; alias == o; end"],
  [:index, "class Array; alias o []; def [](*i) = o(*i) || 100; end", "class Array; alias [] o; end"],
  [:index, "class Array; alias o []=; def []=(i, v); o(i, v + 1); end; end", "class Array; alias []= o; end"],
  [:push, "class Array; alias o <<; def <<(v) = o(v).o(1); end", "class Array; alias << o; end"],
  [:push, "class Array; alias o size; def size = o + 3; end", "class Array; alias size o; end"],
  [:push, "class Array; alias o empty?; def empty? = true; end", "class Array; alias empty? o; end"],
  [:push, "class Array; alias o pop; def pop = o && o; end", "class Array; alias pop o; end"],
  [:hash, "class Hash; alias o []; def [](k) = (o(k) || 0) + 1; end", "class Hash; alias [] o; end"],
  [:hash, "class Hash; alias o []=; def []=(k, v); o(k, 5); end; end", "class Hash; alias []= o; end"],
  [:attributes, "class Point; def x = @x + 1; end", "class Point; attr_reader :x; end"],
  [:attributes, "class Point; def y=(v); @y = v + 2; end; end", "class Point; attr_writer :y; end"],
  [:create, "class Point; alias o initialize; def initialize(x, y) = (@x = x; @y = 7); end", "class Point; alias initialize o; end"],
  [:create, "class Point; class << self; def new(*) = allocate.tap { |q| q.x = 1; q.y = 1 }; end; end", "class Point; class << self; remove_method :new; end; end"],
  [:create, "class Bare; def initialize = ($bare = ($bare || 0) + 1); end", "class Bare; remove_method :initialize; end; p $bare"],
  [:equal, "class Point; alias o ==; def ==(x) = false; end", "class Point; alias == o; end"],
  [:equal, "class Point; def !=(x) = false; end", "class Point; remove_method :!=; end"],
  [:equal, "class String; alias o ==; def ==(x) = !o(x); end", "class String; alias == o; end"],
  [:equal, "class NilClass; def ==(x) = true; end", "class NilClass; remove_method :==; end"],
  [:not, "class Point; def !() = true; end", "class Point; remove_method :!; end"],
  [:not, "class Point; def nil? = true; end", "class Point; remove_method :nil?; end"],
  [:not, "class NilClass; alias o nil?; def nil? = false; end", "class NilClass; alias nil? o; end"],
  [:not, "class BasicObject; alias no !; def !() = ::NilClass === self ? false : no; end", "class BasicObject; alias ! no; end"],
  [:case, "class Float; class << self; def ===(x) = x == 1900; end; end", "class Float; class << self; remove_method :===; end; end"],
  [:case, "class Range; alias o ===; def ===(x) = x == 1901; end", "class Range; alias === o; end"],
  [:each, "class Array; alias o each; def each(&q) = (o { |v| q.call(v + 1) }; self); end", "class Array; alias each o; end"],
  [:each, "class Integer; alias o times; def times(&q) = o { |v| q.call(v) }; end", "class Integer; alias times o; end"],
  [:upto, "class Integer; alias o upto; def upto(x, &q) = o(x) { |v| q.call(0) }; end", "class Integer; alias upto o; end"],
  [:range, "class Range; alias o each; def each(&q) = o { |v| q.call(1) }; end", "class Range; alias each o; end"],
  [:map, "class Array; alias o map; def map(&q) = o { |v| q.call(0) }; end", "class Array; alias map o; end"],
  [:map, "class Array; alias o inject; def inject(*) = 5; end", "class Array; alias inject o; end"],
  [:strings, "class String; alias o size; def size = 2; end", "class String; alias size o; end"],
  [:strings, "class String; alias o getbyte; def getbyte(i) = nil; end", "class String; alias getbyte o; end"],
  [:strings, "class String; alias o empty?; def empty? = true; end", "class String; alias empty? o; end"],
  [:calls, "def helper(i) = 1", "def helper(i) = i & 3"],
  [:calls, "def helper(i, j = 4, *k) = j", "def helper(i) = i & 3"],
  [:calls, "undef helper; def method_missing(n, i) = 6", "class Object; remove_method :method_missing; end; def helper(i) = i & 3"],
  [:constants, "Object.send(:remove_const, :CONST); CONST = 5", "Object.send(:remove_const, :CONST); CONST = 2"],
  [:constants, "Object.send(:remove_const, :CONST); class Object; def self.const_missing(n) = 9; end", "CONST = 2; class << Object; remove_method :const_missing; end"],
]
CHANGES.each do |name, change, back|
  done = false
  during = run(name) { eval(change, TOPLEVEL_BINDING) unless done; done = true }
  after = run(name) {}
  eval(back, TOPLEVEL_BINDING)
  puts "#{change[0, 60]}", "  during #{during}", "  after #{after}", "  back #{run(name) {}}"
end
