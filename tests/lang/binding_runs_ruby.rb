# Ruby code that runs while arguments are bound (hash of a key, to_ary, a warning) leaves those alone that are bound already.
class Key
  def initialize(n = 42) = @n = n
  def hash
    a = b = c = d = e = 1
    [a, b, c, d, e]
    if $arm
      $arm = false
      $h.clear
      GC.start
      2_000.times { "junk" + "x" * 30; Object.new; [1] }
      GC.start
    end
    @n
  end
  def eql?(other) = equal?(other)
end

block = proc { |a, b = 2, *c, k: 1, **r| p [a, b, c, k, r.size] }
block.call(10, 20, 30, k: 5, Key.new => 1, Key.new => 2)
block = lambda { |a, b = 2, *c, k: 1, **r| p [a, b, c, k, r.size] }
block.(10, 20, 30, k: 5, Key.new => 1, Key.new => 2)
def give = yield(10, 20, 30, k: 5, Key.new => 1, Key.new => 2)
give { |a, b = 2, *c, k: 1, **r| p [a, b, c, k, r.size] }
give { |a, b, c, d, e, f, g, h, i, j, l, m, n, o, k: 1, **r| p [a, b, c, d, e, f, g, h, i, j, l, m, n, o, k, r.size] }
def take(a, b = 2, *c, k: 1, **r) = p([a, b, c, k, r.size])
take(10, 20, 30, k: 5, Key.new => 1, Key.new => 2)
self.class.define_method(:made) { |a, b = 2, *c, k: 1, **r| p [a, b, c, k, r.size] }
made(10, 20, 30, k: 5, Key.new => 1, Key.new => 2)
def wide(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q:, **r) = p([a, p, q, r.values])
wide(*(1..16), q: 0, Key.new(1) => "v" * 40, Key.new(2) => "w" * 40)

class Pair
  def to_ary
    a = b = c = d = 9
    [a, b, c, d].sum == 36 ? [1, 2] : nil
  end
end
proc { |a, b, c = 3, *d, e: 4| p [a, b, c, d, e] }.call(Pair.new)
[Pair.new].each { |a, (b, c), d = a| p [a, b, c, d] }

# More arguments than the caller has registers for, and a warning on the way.
module Warning
  def self.warn(text, **) = ("x" * 100; x = y = z = 0; [x, y, z])
end
verbose, $VERBOSE = $VERBOSE, true
def unused(*all) = p([all.sum, all.size])
unused(*(1..200).to_a) { }
unused(*(1..200).to_a, **{}) { }
$VERBOSE = verbose

# Keys that empty the Hash that is being copied.
def build
  $h = {}
  8.times { |i| $h[Key.new(i)] = "value#{i}" * 3 }
  $arm = true
  $h
end
def all(**keywords) = keywords
p({ **build, a: 1 }.values.map(&:class).uniq)
p all(**build).values.all?(String)
p({}.update(build).values.all?(String))
p({}.merge(build).values.all?(String))
p build.to_a.to_h.values.all?(String)
p build.transform_keys { |k| k }.values.all?(String)
p build.reject { false }.values.all?(String)

# The lambda's own line comes first in errors about its arguments.
l = lambda { |a| a }
def run = yield
[-> { l.call }, -> { run(&l) }].each do |f|
  f.call
rescue ArgumentError => e
  puts e.backtrace_locations.first(2).map(&:lineno).inspect, e.message
end
