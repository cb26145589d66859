# Every kind of object that travels, to another VM that has the same classes, and back.
CLASSES = <<~'RUBY'
  Pair = Struct.new(:left, :right)
  Keyed = Struct.new(:a, :b, keyword_init: true)
  Place = Data.define(:x, :y)
  class Text < String; attr_accessor :note; end
  class List < Array; attr_accessor :note; end
  class Table < Hash; attr_accessor :note; end
  class Span < Range; end
  class Failure < StandardError
    def initialize(message, code) = (super(message); @code = code)
    attr_reader :code
  end
  class Version
    include Comparable
    attr_reader :n
    def initialize(n) = @n = n
    def <=>(other) = n <=> other.n
    def hash = n.hash
    def eql?(other) = n == other.n
  end
  module Deep; class Inner; attr_accessor :v; end; end
RUBY
eval CLASSES
there = RubyVM::Channel.new
back = RubyVM::Channel.new
vm = RubyVM.new("ruby", "-e", CLASSES + <<~'RUBY')
  there, back = RubyVM::ARGV
  there.each { |x| back << x }
RUBY
vm.start(there, back)
echo = lambda do |x|
  there << x
  back.recv
end

values = [
  1, -1.5, 1.5e300, -0.0, 2**200, 3r, 2i, Rational(1, 2**80), :sym, nil, true, "text", "bin\xff".b, "é".encode("UTF-16LE"), "k" * 1000,
  1..2, ("a"..."c"), (1..), (..2.5), [], [1, [2, [3]]], {}, { 1 => { "a" => [:b] } }, Set[1, "two", [3]],
  Pair.new(1, Pair.new(2, nil)), Keyed.new(a: 1, b: 2), Place.new(x: 1, y: "z"), /a(?<b>c)/ix, Time.at(1, 500, :millisecond).utc,
  Comparable, Integer, Deep::Inner, Encoding::UTF_8, Random.new(7), Process::Status, String.instance_method(:upcase)
]
values.each do |v|
  r = echo.(v)
  ok = v == r || v.inspect == r.inspect
  puts "#{v.class}: #{ok && v.class == r.class && v.frozen? == r.frozen? ? "ok" : "#{v.inspect} became #{r.inspect}"}"
end

s = Text.new("hello")
s.note = { of: s }
r = echo.(s)
p r.class, r, r.note[:of].equal?(r), s.note[:of].equal?(s)
a = List.new([1, 2])
a.note = "n"
r = echo.(a)
p r.class, r, r.note
t = Table.new { |h, k| h[k] = k.to_s * 2 }
t[:a] = 1
t.note = [t]
r = echo.(t)
p r.class, r[:bc], r[:a], r.note[0].equal?(r), t.key?(:bc)
p echo.(Span.new(1, 3)).class, echo.(Span.new(1, 3)).to_a

# Keys of all sorts are found again.
keys = { [1, "a"] => 1, "s" => 2, 2**70 => 3, 1.25 => 4, nil => 5, Version.new(3) => 6, Pair.new(1, 2) => 7, String => 8, (1..2) => 9, 3r => 10 }
r = echo.(keys)
p [[1, "a"], "s", 2**70, 1.25, nil, Version.new(3), Pair.new(1, 2), String, 1..2, 3r].map { |k| r[k] }
p echo.(Set[[1], Version.new(2)]).include?(Version.new(2))
by_id = {}.compare_by_identity
k = "key"
by_id[k] = 1
by_id["key".dup] = 2
r = echo.([by_id, k])
p r[0].compare_by_identity?, r[0][r[1]], r[0].size, r[0]["key".dup]

# Frozen or not stays so; String keys are frozen.
r = echo.(["a".freeze, "b", ["c"].freeze, { "k" => 1 }.freeze])
p r.map(&:frozen?), r[2][0].frozen?, r[3].keys[0].frozen?
r[1] << "!"
p r[1]
begin
  r[3]["z"] = 1
rescue FrozenError => e
  puts e.message
end

# Exceptions: message, backtrace, cause, variables.
e = begin
  begin
    raise "inner"
  rescue
    raise Failure.new("outer", 42)
  end
rescue => e
  e
end
r = echo.(e)
p r, r.code, r.cause, r.backtrace.size == e.backtrace.size, r.backtrace[0] == e.backtrace[0], r.full_message(highlight: false) == e.full_message(highlight: false)
m = "some text".match(/(?<w>t\w+)/)
r = echo.(m)
p r, r[:w], r.pre_match, r.regexp, r.string, r.begin(0)
p echo.(Random.new(3)).rand == Random.new(3).rand
p echo.([1, 2, 3].each).next, echo.((1..Float::INFINITY).lazy.map { |x| x * 2 }).first(2), echo.([5, 6].each_with_index).to_a
started = [1, 2].each
started.next
begin
  echo.([started])
rescue TypeError => e
  puts e.message
end

# Objects that every VM has.
p echo.([self, ENV, ARGF].map(&:itself)).then { |x, y, z| [x.equal?(self), y.equal?(ENV), z.equal?(ARGF)] }

# Sharing and cycles, through every kind.
o = Deep::Inner.new
h = { o => [o] }
o.v = [h, Pair.new(h, o)]
r = echo.(h)
i = r.keys[0]
p r[i][0].equal?(i), i.v[0].equal?(r), i.v[1].right.equal?(i), i.v[1].left.equal?(r)
there.close
vm.join
