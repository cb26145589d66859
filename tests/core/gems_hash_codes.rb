# What suites of gems stumbled over: codes of objects that give another object's, threads' own fibers, times, names of the core.

# An object whose `hash` gives that of its content counts as the content in every collection.
class Wrap
  attr_reader :content
  def initialize(content) = @content = content
  def hash = @content.hash
  def eql?(other) = @content.eql?(Wrap === other ? other.content : other)
  alias == eql?
end
Pair = Struct.new(:a)
Point = Data.define(:q)
things = [5, -7, 2**80, 1.5, 0.0, "s", "ä" * 40, :s, nil, true, Time.at(3), [1, [2]], { a: 1 }, (1..2), 3r, 2i, Object.new, Pair.new(1), Point.new(1), /a/, Set[1], String, -> {}]
things.each do |v|
  w = Wrap.new(v)
  codes = [[v].hash == [w].hash, { a: v }.hash == { a: w }.hash, Pair.new(v).hash == Pair.new(w).hash, Point.new(v).hash == Point.new(w).hash,
    Set[v].hash == Set[w].hash, (v..nil).hash == (w..nil).hash] rescue [$!.class]
  found = [{ v => 2 }[w], [w, v].uniq.size, [w] - [v], [w] & [v] == [w], Set[v].include?(w)]
  p [v.class, codes.uniq, found]
end
p [[Wrap.new(1)]].hash == [[1]].hash

# Of an object in a large table, with small codes of its own.
class Small
  attr_reader :n
  def initialize(n) = @n = n
  def hash = n
  def eql?(other) = n == other.n
end
table = (0...5000).to_h { |n| [Small.new(n), n] }
p (0...5000).all? { |n| table[Small.new(n)] == n }, table.size
p table.key?(Small.new(5000))
class Huge < Small; def hash = 2**70 + n; end
table = { Huge.new(1) => 1, Huge.new(2) => 2 }
p table[Huge.new(2)], table[Huge.new(3)]

# The fiber that stands for a thread's code ends with it.
f = Thread.new { Fiber.current }.value
p f.alive?, f.inspect.include?("terminated")
g = nil
Thread.new { g = Fiber.current; Thread.exit }.join
p g.alive?
t = Thread.new { g = Fiber.current; sleep }
Thread.pass until t.stop?
p g.alive?
t.kill.join
p g.alive?
begin
  f.resume
rescue FiberError
  p $!.class
end
p Fiber.current.alive?

# Of eight arguments the last two count for nothing.
p Time.utc(2010, 7, 2, 10, 0, 0, false, "-2:30"), Time.utc(2010, 7, 2, 10, 0, 0, 5, 7).usec, Time.utc(2010, 7, 2, 10, 0, 0, 5).usec

p Pathname("a/b"), Pathname(Pathname.new("c")).class
p Kernel.Pathname("d")
p Kernel.private_method_defined?(:Pathname)

require "did_you_mean"
require "did_you_mean/spell_checker"
p DidYouMean::SpellChecker.new(dictionary: %w[email fail]).correct("meail")
p DidYouMean::Levenshtein.distance("kitten", "sitting")
p DidYouMean::TreeSpellChecker.new(dictionary: %w[spec/a_spec.rb spec/b_spec.rb]).correct("spec/a_spce.rb")
p Gem::BUNDLED_GEMS.respond_to?(:uplevel)

# Arguments are evaluated before `yield` finds no block, in blocks too.
def in_method = yield(raise("argument"))
def in_block = [1].each { yield(raise("argument")) }
def splatted = [1].each { yield(*raise("argument")) }
def none = [1].each { yield }
def many = [1].each { |i| yield(i, 2, k: i) }
%i[in_method in_block splatted none many].each do |name|
  send(name)
rescue RuntimeError, LocalJumpError
  p [name, $!.class, $!.message]
end
p(many { |*a, **k| p a, k })

# The place of a Proc's Binding is where the block begins.
def kept(&block) = block
block = kept do

  1
end
p block.binding.source_location == block.source_location, block.binding.source_location[1]
inner = -> {

  binding }
p inner.binding.source_location[1] + 2 == inner.call.source_location[1]

# A random moment of a Range of Times.
range = Time.at(10)..Time.at(20)
p Array.new(50) { Random.rand(range) }.all? { |t| Time === t && range.cover?(t) }, Random.new(3).rand(Time.at(5)..Time.at(5)) == Time.at(5)
p Random.new(3).rand(Time.at(0, in: "UTC")..Time.at(1 << 30, in: "UTC"))
begin
  Random.rand(Time.at(5)...Time.at(5))
rescue ArgumentError
  p $!.class
end
