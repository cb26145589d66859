# An image grows by what changed: many changes of few things, few changes of many, in chains; parents and children compare all they hold.
class Base; @@cv = 0; @civ = [0]; class << self; attr_reader :civ; end; def self.cv = @@cv; def self.cv=(x); @@cv = x; end; end
LIST = Array.new(50) { |i| ["e#{i}", { i => [i] }] }
SAME = LIST[7]; HASH = {}; IDS = {}.compare_by_identity; FROZEN = [LIST[3], [1].freeze].freeze
OBJ = Object.new; $g = 0; $counter = 0; COUNTER = { n: 0 }
n = 0
BUMP = -> { n += 1 }
self.class.define_method(:bumped) { n }
def state = Marshal.dump([LIST, HASH, $g, $counter, COUNTER, Base.cv, Base.civ, OBJ.instance_variables.map { |v| OBJ.instance_variable_get(v) }, bumped, IDS.values, IDS.keys,
                          SAME.equal?(LIST[7]), FROZEN[0].equal?(LIST[3]), OBJ.singleton_methods, Object.constants.grep(/\AFresh/).sort, OBJ.object_id])
def exact? = state == RubyVM.fork { state }.value
p exact?
RubyVM::Image.capture
bad = 0
images = []
r = Random.new(7)
400.times do |i|
  was = nil
  (1 + r.rand(3)).times do
    case r.rand(18)
    when 0 then $counter += 1
    when 1 then COUNTER[:n] += 1
    when 2 then LIST[r.rand(50)][0] << "x"
    when 3 then LIST[r.rand(50)][1].store(:k, [i])
    when 4 then HASH[i] = [i, LIST[r.rand(50)]]
    when 5 then HASH.shift
    when 6 then $g = [LIST[r.rand(50)], $g.is_a?(Array) ? $g[0] : 1]
    when 7 then Base.cv += 1
    when 8 then Base.civ << i
    when 9 then OBJ.instance_variable_set(:"@v#{r.rand(9)}", [i])
    when 10 then BUMP.call
    when 11 then IDS[LIST[r.rand(50)]] = i
    when 12 then OBJ.define_singleton_method(:"m#{r.rand(5)}") { i }
    when 13 then Object.const_defined?(:"Fresh#{i}") or Object.const_set(:"Fresh#{i}", Class.new { define_method(:x) { i } })
    when 14 then (c = Object.constants.grep(/\AFresh/).first) && Object.send(:remove_const, c)
    when 15 then LIST[r.rand(50)].object_id
    when 16 then LIST[r.rand(50)] = [+"new", { i => [i] }]
    when 17 then GC.start
    end
  end
  bad += 1 unless exact?
  images << [RubyVM::Image.capture, state] if i % 40 == 0
  # A child that changes and forks itself.
  if i % 20 == 0
    bad += 1 unless RubyVM.fork { LIST[0][0] << "c"; a = exact?; HASH[:c] = LIST[0]; $counter += 1; b = exact?; OBJ.instance_variable_set(:@c, 1); a && b && exact? && RubyVM.fork { $g = 1; exact? }.value }.value
  end
end
p bad, images.map { |i, s| i.spawn { state }.value == s }.all?
# A private at top level, an alias, a once-site, a Thread that forks.
private
def hidden = 1
alias $alias $counter
def once(x) = /#{x}/o
p once(1).source, RubyVM.fork { [once(2).source, (Object.new.hidden rescue :private), $alias == $counter] }.value
T = Thread.new { RubyVM.fork { Thread.current.equal?(T) }.value }
p T.value
