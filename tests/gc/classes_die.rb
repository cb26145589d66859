# Classes, modules and singleton classes that nothing refers to are given back, and whatever refers to one keeps it.
SMALL = ENV["ZAKURO_TEST_SCALE"] == "small"
ROUNDS = SMALL ? 4 : 12
N = SMALL ? 20 : 300
def clean
  # Numbers of classes are used again after the second one.
  3.times { GC.start }
end
def count = ObjectSpace.each_object(Module).count

module Extra
  def extra = :extra
end
WAYS = {
  "Class.new" => -> { Class.new },
  "Module.new" => -> { Module.new },
  "a singleton method" => -> { o = Object.new; def o.x = 1; o.x },
  "extend" => -> { Object.new.extend(Extra).extra },
  "Struct.new" => -> { Struct.new(:a, :b).new(1, 2).b },
  "Data.define" => -> { Data.define(:a).new(a: 1).a },
  "an error class" => -> { e = Class.new(StandardError); begin; raise e, "x"; rescue e => x; x.message; end },
  "a chain" => -> { c = Class.new { def initialize = (@a, @b = 1, 2); def x = @a }; Class.new(c) { def x = [super, @b] }.new.x },
  "refinements" => -> { Module.new { refine(String) { def shout = upcase + "!" } } },
  "instance_eval" => -> { Object.new.instance_eval { def y = 2; y } },
  "a constant that is removed" => -> { Object.const_set(:Gone, Class.new { self::X = 1; def f = self.class::X }); Gone.new.f; Object.send(:remove_const, :Gone) },
  "eval" => -> { eval("class Gone; @@v = 3; def f = @@v; end; Gone.new.f"); Object.send(:remove_const, :Gone) },
  "singleton classes" => -> { Class.new { def self.q = 1 }.singleton_class.singleton_class },
  "copies" => -> { [Extra.dup, Class.new(Array).clone] },
  "a cycle through a constant and a variable" => -> { c = Class.new; c.const_set(:ME, c.new); s = +"x"; s.instance_variable_set(:@c, c); c.const_set(:S, s) },
  "a String with methods" => -> { s = +"x"; def s.twice = self * 2; s.twice },
}
WAYS.each do |name, way|
  N.times { way.() }
  clean
  before = count
  ROUNDS.times { N.times { way.() } }
  clean
  after = count
  # A word on a stack may hold on to a few.
  puts "#{name}: #{after - before < 40 ? "given back" : "#{before} became #{after}"}"
end

puts "-- what keeps a class"
def numbers
  # New classes take the numbers of those that died.
  clean
  Array.new(N) { |i| Class.new { define_method(:who) { i }; define_method(:other) { -i } } }
end
Keep = {}
def keep(name) = (Keep[name] = yield; nil)
keep(:instance) { Class.new { def who = :instance }.new }
keep(:method) { Class.new { def who = :method }.new.method(:who) }
keep(:unbound) { Class.new { def who = :unbound }.instance_method(:who) }
keep(:proc) { Class.new { def who = (@a = :proc; proc { [@a, self.class.instance_methods(false)] }) }.new.who }
keep(:binding) { Class.new { def who = (a = :binding; binding) }.new.who }
keep(:string) { s = +"x"; def s.who = :string; s }
keep(:fiber) { f = Fiber.new { o = Class.new { def who = :fiber }.new; Fiber.yield; o.who }; f.resume; f }
keep(:thread) { q = Queue.new; [Thread.new { o = Class.new { def who = :thread }.new; q.pop; o.who }, q] }
keep(:variable) { s = +"y"; s.instance_variable_set(:@o, Class.new { def who = :variable }.new); s }
keep(:subclass) { Class.new(Class.new { def who = :subclass }) }
keep(:including) { m = Module.new { def who = :including }; Class.new { include m } }
keep(:scope) { Class.new { const_set(:C, :scope); class_eval("def self.who = proc { C }") }.who }
keep(:cvar) { Class.new { class_variable_set(:@@v, :cvar); class_eval("def self.who = proc { @@v }") }.who }
keep(:error) { begin; Class.new { def who = raise("in here") }.new.who; rescue => e; e; end }
keep(:enumerator) { e = Class.new { def each = yield(:enumerator) }.new.to_enum; e }
keep(:default) { Hash.new { |h, k| h.singleton_class } }
keep(:name) { Class.new }
keep(:module) { Class.new(Module) { def who = :module }.new }
keep(:weak) { [ObjectSpace::WeakMap.new, Class.new { def who = :weak }.new].tap { |m, o| m[o] = 1 } }
keep(:id) { Class.new { def who = :id }.new.then { |o| [o, o.object_id] } }
fresh = numbers
p Keep[:instance].who, Keep[:method].call, Keep[:unbound].bind_call(Keep[:unbound].owner.new), Keep[:proc].call
p Keep[:binding].local_variable_get(:a), Keep[:string].who, Keep[:fiber].resume
Keep[:thread][1] << 1
p Keep[:thread][0].value, Keep[:variable].instance_variable_get(:@o).who, Keep[:subclass].new.who, Keep[:including].new.who
p Keep[:scope].call, Keep[:cvar].call, Keep[:error].backtrace[0][/'.*'/].sub(/0x\h+/, "0x"), Keep[:enumerator].next
p Keep[:default][1].instance_of?(Class), Keep[:name].name, Keep[:module].who, Keep[:weak][0].key?(Keep[:weak][1]), Keep[:weak][1].who
p Keep[:id][0].who, Keep[:id][0].object_id == Keep[:id][1]
p fresh.map { |c| c.new.who } == (0...N).to_a

puts "-- a class that dies while its method runs"
def gone
  o = Class.new { def run(q) = (q.(self); [who, self.class.instance_methods(false).sort]); def who = :still }.new
  o.class.send(:remove_method, :run) if false
  o.run(->(me) { me.class.send(:remove_method, :run); numbers })
end
p gone
k = Class.new { def loud = (singleton_class.send(:define_method, :soft) { super() rescue :none }; GC.start; soft) }
p k.new.loud

puts "-- a method of an eval that only a copy of it holds"
c = Class.new
eval("Class.new { def copied(x) = [1, 2].map { |y| x * y } }").then { |k| c.include(Module.new { define_method(:own, Object.instance_method(:itself)) }); Keep[:from] = k }
Extra.class_eval("def passing(x) = [x].map { |y| y + 1 }; Extra::Passing = instance_method(:passing); remove_method :passing")
c.include(Extra)
c.define_method(:copied, Extra::Passing)
Extra.send(:remove_const, :Passing)
clean
10.times { |i| eval("[#{i}].map { |x| x }.first") }
clean
p c.new.copied(4), c.new.own.class == c
