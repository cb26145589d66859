# What is splatted in a call is not copied on the way: the callee copies what it keeps.
COUNTS = {}
def made
  ObjectSpace.count_objects(COUNTS)
  arrays, hashes = COUNTS[:T_ARRAY], COUNTS[:T_HASH]
  yield
  ObjectSpace.count_objects(COUNTS)
  [COUNTS[:T_ARRAY] - arrays, COUNTS[:T_HASH] - hashes]
end

def none; end
def one(a) = a
def two(a, b = 0) = nil
def key(k: 0) = nil
def rest(*a) = a
def one_rest(x, *a) = a
def last(*a, z) = a
def keys(**k) = k
def key_keys(k: 0, **o) = o
def all(*a, **k) = [a, k]
def nameless(*, **) = nothing(*, **)
def nothing(*, **); end
def nameless_all(*, **) = all(*, **)

list, empty, hash, nothing, nil_ = [1], [], { k: 1 }, {}, nil
lambda_ = ->(a, k: 0) {}
GC.disable
p([
  made { none(*empty, **nothing) }, made { none(*nil_, **nil_) }, made { one(*list) }, made { two(1, *list) }, made { two(1, *empty, **nothing) },
  made { key(**hash) }, made { key(*empty, **hash) }, made { key(*empty, k: 2) }, made { key(*empty, **hash, &nil_) },
  made { rest(*list) }, made { rest(1, *list) }, made { rest(*list, *empty) }, made { rest(*list, 1) }, made { one_rest(*list, *list) }, made { last(*list, 1) },
  made { one(**hash) }, made { keys(**hash) }, made { keys(**nothing) }, made { key_keys(**hash) }, made { key_keys(**hash, z: 1) },
  made { all(*list, **hash) }, made { all(1, *list, k: 1) }, made { all }, made { all(*list, *list, **hash, **hash) },
  made { nameless }, made { nameless(1, **hash) }, made { nameless_all(*list, **hash) },
  made { lambda_.(*list, **hash) }, made { send(:key, *empty, **hash) }, made { yielding(*list, **hash) { |a, k: 0| } }
].each_slice(8).to_a) if defined?(yielding) || define_singleton_method(:yielding) { |*a, **k, &b| b.(*a, **k) }

# What runs between the splat and the call is not seen by the callee.
a = [1]
p rest(*a, a << 2), rest(*a, &(a << 3; nil)), rest(0, *a, &(a << 4; nil))
p all(*a, k: (a << 5; 1)), all(*a, **(a << 6; {}))
h = { k: 1 }
p keys(**h, &(h[:l] = 2; nil)), keys(**h, **(h[:m] = 3; {}))
p a, h

# What the callee keeps is its own.
a, h = [1, 2], { k: 1 }
rest(*a) << 3
rest(*a, *[]) << 4
keys(**h)[:x] = 1
one(**h)[:y] = 1
all(*a, **h).each(&:clear)
def changes(*a, **k) = (a << 1; k[:z] = 1)
def passes(*, **) = (changes(*, **); changes(*, **); all(*, **))
def forwards(...) = (changes(...); all(...))
p passes(*a, **h), forwards(*a, **h), forwards(0, *a, q: 1), a, h

# A Hash of another class, with a default, by identity.
class Table < Hash; end
table = Table[k: 1].tap { |t| t.default = 5 }
table.instance_variable_set(:@x, 7)
[keys(**table), one(**table), nameless_all(**table)[1], key_keys(**table)].each { |k| p [k.class, k[:none], k.instance_variable_get(:@x), k.equal?(table)] }
p keys(**{ "a" => 1 }.compare_by_identity).compare_by_identity?, keys(**table, l: 1).class
class Like; def to_hash = { l: 1 }; def to_a = [7]; end
p all(*Like.new, **Like.new), rest(*1..3), rest(0, *nil), (keys(**1) rescue $!.class)

# super with parameters as they are.
class Base; def m(*a, **k, &b) = [a, k, b&.call]; end
class Sub < Base
  def m(x, y = 2, *r, k: 1, l: 2, **o) = (x += 1; super)
end
class Named < Base; def m(x, k: 1, l: 2) = (k += 1; super); end
class Nameless < Base; def m(*, **, &) = super; end
class Post < Base; def m(a, *r, z) = (r = [9]; super); end
p Sub.new.m(1), Sub.new.m(1, 3, 4, l: 5, q: 6) { 7 }, Named.new.m(1, l: 3), Nameless.new.m, Nameless.new.m(1, a: 2) { 3 }, Post.new.m(1, 2, 3)

# Keywords that a method kept for later.
ruby2 = Class.new { ruby2_keywords(def m(*a) = to(*a)); def to(*a, k: 0, **o) = [a, k, o] }.new
p ruby2.m(1, k: 2, z: 3), ruby2.m(**{}), ruby2.m({ k: 1 }), ruby2.m(*[1, 2], **{ k: 3 })
kept = Class.new { ruby2_keywords(def m(*a) = a) }.new.m(1, k: 2)
p key(*kept[1..]), rest(*kept), all(*kept), all(0, *kept), kept.last

# Blocks, procs, elements.
def twice(*a, **k) = yield(*a, **k) + yield(*a, *a)
p twice(1, 2) { |x, y = 0, *z| [x, y, z] }, twice([1, 2]) { |x, y| [x, y] }
p proc { |x, *y| [x, y] }.call(*[[1, 2, 3]]), proc { |*| 1 }.call(*[1]), ->(*, **nil) { 2 }.(*[1, 2])
store = Class.new { def [](*a, **k) = [a, k]; def []=(*a) ; @a = a; end; attr_reader :a }.new
i = [1, 2]
store[*i] = 3
store[0, *i] = 4
p store.a, store[*i], store[0, *i], (store[*i] += [5]; store.a)
p (one(*i) rescue $!.message), (none(*i, **h) rescue $!.message), (key(0, *i) rescue $!.message)
def method_missing(name, *a, **k) = name == :nope ? [a, k] : super
p nope(*i, **h), nope(0, *i), send(:rest, 0, *i), send(*[:rest, 1]), public_send(:inspect, *[]).class
p define_singleton_method(:bm) { |x, *y, k: 0, **o| [x, y, k, o] }, bm(*i, **h), bm(0, *i, q: 1)
# Lists that are longer than what is kept on the native stack, to a rest parameter behind required ones.
long = (1..12).to_a
def all(*l) = l
def two(a, b, *l) = [a, b, l]
def with(a, *l, &b) = [a, l, b&.call(*l)]
def gone(n, *l) = (l << n).size
p all(*long), two(*long), with(*long), with(*long) { |x, *y| [x, y] }, send(:two, *long), (two(1) rescue $!.message)
define_singleton_method(:made) { |*l| l.push(0) }
define_singleton_method(:later) { |a, *l, &b| [a, l, b&.call] }
block = proc { |*l| l << :more }
p made(*long), later(*long) { 3 }, block.(*long), block.call([1, 2]), proc { |a, *l| [a, l] }.call(long), lambda { |a, *l| [a, l] }.(*long), gone(*long), long.size
def method_missing(name, *a) = [name, a]
p missing(*long), method(:missing).unbind.class rescue p $!.class
def opt(a, b = 2, *l, c) = [a, b, l, c]
p opt(*long), opt(1, 2), (yielded = ->(&b) { b }).call { |*l| l }.call(*long, **{}), all(*long, k: 1), all(*long, **{})
ruby2_keywords def kept(*l) = all(*l)
p kept(*long, k: 1), kept(*long)
