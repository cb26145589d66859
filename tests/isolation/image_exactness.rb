# Whatever changes between two forks, the second sees it; nothing changed: the same image again. Every kind of root, in both directions.
class Base; @@cv = [1]; @civ = [1]; class << self; attr_reader :civ; end; def self.cv = @@cv; end
S = Struct.new(:a)
LIST = [1]; HASH = { a: [1] }; TEXT = +"t"; OBJ = Object.new; POINT = S.new(1); QUEUE = Queue.new; SHARED = LIST
FROZEN = [OBJ, [1].freeze].freeze
DEEP = [[[+"deep"]]]
KEYS = { OBJ => :obj, [OBJ] => :list, Base => :class }.compare_by_identity.merge({})
BYHASH = { OBJ => :obj, [OBJ, Base] => :list, Base => :class }
$g = [1]; @main = [1]
counter = 0
INC = -> { counter += 1 }
self.class.define_method(:counted) { counter }
LOG = File.open(File::NULL, "w")
T = Thread.new { Thread.stop; [:done] }
RE = /a(b)/
def state
  { l: LIST, h: HASH, t: TEXT, o: OBJ.instance_variables.to_h { |n| [n, OBJ.instance_variable_get(n)] }, p: POINT.to_a, q: QUEUE.size, d: DEEP,
    cv: Base.cv, civ: Base.civ, g: $g, m: @main, c: counted, sync: LOG.sync, s: SHARED.equal?(LIST), f: FROZEN[0].equal?(OBJ),
    k: BYHASH[OBJ], kl: BYHASH[[OBJ, Base]], kc: BYHASH[Base], re: RE.match("xab")[1], x: defined?(Fresh) && Fresh, meth: Base.method_defined?(:fresh),
    frozen: [LIST, TEXT, OBJ].map(&:frozen?), thread: T.alive?, sing: OBJ.singleton_methods, default: HASH.default }
end
def child = RubyVM.fork { state }.value
changes = {
  nothing: -> {}, array: -> { LIST << 2 }, aset: -> { LIST[0] = :first }, nested: -> { DEEP[0][0][0] << "er" }, hash: -> { HASH[:b] = 1 }, inner: -> { HASH[:a] << 2 },
  default: -> { HASH.default = 3 }, string: -> { TEXT << "u" }, upcase: -> { TEXT.upcase! }, ivar: -> { OBJ.instance_variable_set(:@a, 1) },
  ivar_again: -> { OBJ.instance_variable_set(:@a, 2) }, struct: -> { POINT.a = 2 }, queue: -> { QUEUE << 1 }, cvar: -> { Base.cv << 2 },
  cvar_set: -> { Base.class_variable_set(:@@cv, [3]) }, civ: -> { Base.civ << 2 }, civ_set: -> { Base.instance_variable_set(:@civ, 9) },
  global: -> { $g << 2 }, global_set: -> { $g = 5 }, main: -> { @main << 2 }, main_set: -> { @main = 5 }, env: -> { INC.call }, env_again: -> { INC.() },
  stream: -> { LOG.sync = true }, const: -> { Object.const_set(:Fresh, [1]) }, const_in: -> { Fresh << 2 },
  method: -> { Base.define_method(:fresh) { 1 } }, undef: -> { Base.remove_method(:fresh) }, singleton: -> { def OBJ.hi = 1 },
  sort: -> { LIST.reverse! }, clear: -> { LIST.clear }, delete: -> { HASH.delete(:b) }, thread: -> { T.run; T.join }, freeze: -> { TEXT.freeze },
  remove_ivar: -> { OBJ.remove_instance_variable(:@a) }, remove_const: -> { Object.send(:remove_const, :Fresh) },
}
deep = ->(x) { Marshal.load(Marshal.dump(x)) }
before = deep[state]
changes.each do |name, change|
  image = RubyVM::Image.capture
  change.call
  now = deep[state]
  same = ->(a, b) { a.merge(thread: 0) == b.merge(thread: 0) }
  got, old = child, image.spawn { state }.value
  puts "#{name}: fork #{same[got, now] ? "exact" : [got.to_a - now.to_a, now.to_a - got.to_a].inspect}, " \
       "image #{same[old, before] ? "exact" : [old.to_a - before.to_a, before.to_a - old.to_a].inspect}, parent #{state == now}"
  before = now
end
# What a child changes, neither its parent nor its siblings see, however deep.
def spoil
  LIST << 9; HASH[:z] = 9; DEEP[0] << 9; OBJ.instance_variable_set(:@z, 9); POINT.a = 9; Base.cv << 9; $g = [9]; @main = 9; INC.call
  Base.class_eval { def spoiled = 9 }; Object.const_set(:Spoiled, 9) unless defined?(Spoiled)
end
p 3.times.map { RubyVM.fork { spoil; [LIST, HASH[:z], DEEP, POINT.a, $g, @main, counted, defined?(Spoiled)] } }.map(&:value).uniq.size
p state == before, defined?(Spoiled), Base.method_defined?(:spoiled)
p RubyVM.fork { spoil; RubyVM.fork { spoil; RubyVM.fork { [LIST.count(9), counted, SHARED.equal?(LIST), HASH[:z], FROZEN[0].equal?(OBJ), BYHASH[[OBJ, Base]]] }.value }.value }.value
# Part of a graph read before the fork of the fork, the rest after it.
INNER = [1]; OUTER = [INNER, { i: INNER }]
p RubyVM.fork { INNER << 2; RubyVM.fork { INNER << 3; [OUTER, OUTER[0].equal?(INNER), OUTER[1][:i].equal?(INNER)] }.value }.value, OUTER
# Through a channel to another VM; the parent is gone before its child.
ch = RubyVM::Channel.new
p RubyVM.fork(RubyVM::Image.capture) { |i| LIST << :no; i.spawn { [LIST, OUTER] }.value }.value
RubyVM.fork(ch) { |c| LIST << :p; go = RubyVM::Channel.new; RubyVM.fork(c, go) { |d, g| g.recv; d << [LIST, OUTER, counted] }; go << 1 }.join
p ch.recv
p ObjectSpace.each_object(S).count, RubyVM.fork { [ObjectSpace.each_object(S).count, ObjectSpace.each_object(Class).include?(Base), OBJ.hash == BYHASH.keys[0].hash] }.value
p RubyVM.fork { private; def hidden = 1; (Object.new.hidden rescue $!.class) }.value, OBJ.hash == RubyVM.fork { OBJ.hash }.value
image = RubyVM::Image.capture
p 1000.times.map { |i| image.spawn(i) { |n| LIST << n; LIST.last } }.sum(&:value) == 999 * 500
