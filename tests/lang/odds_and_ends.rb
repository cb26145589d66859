def t(n) = puts("#{n}: #{begin; yield.inspect; rescue Exception => e; "#{e.class}: #{e.message.lines.first.chomp}"; end}")
t(:np_nested) { [[1, 2]].map { _1 + _2 }.then { |a| a.map { |x| -> { x }.() } } }
t(:np_lambda) { f = -> { -> { _1 * 2 } }; f.().(4) }
t(:np_in_proc) { proc { [_1, _2] }.call([1, 2]) }
t(:np_one) { proc { _1 }.call([1, 2]) }
t(:np_arity) { [proc { _1 }.arity, proc { _2 }.arity, lambda { _1 }.arity, lambda { _2 }.parameters] }

t(:rec_define) { c = Class.new; c.define_method(:d) { |n| c.define_method(:d) { |m| m * 2 }; n + d(n) }; o = c.new; [o.d(1), o.d(1)] }
t(:redef_running) { o = Object.new; def o.m = (def self.m = 2; [1, m]); [o.m, o.m] }
t(:undef_running) { c = Class.new { def m; self.class.undef_method(:m); m rescue $!.class; end }; c.new.m }
t(:mm_prepend) { m = Module.new { def method_missing(n, *a) = n == :zz ? [:p, *a] : super; def respond_to_missing?(n, p = false) = n == :zz || super }; c = Class.new { prepend m; def method_missing(n, *a) = [:c, n] }; o = c.new; [o.zz(1), o.qq, o.respond_to?(:zz), o.method(:zz).call(2)] }
module R1; refine Integer do; def m0 = [:refined, super()] rescue 0; def to_s = "r" + super; def zork = :zork; end; end
class Integer; def m0 = :base; end
using R1
t(:refine_super) { [1.m0, 1.to_s, "#{1}", [1].map(&:to_s), 1.send(:to_s), 1.public_send(:zork), (1.method(:zork).call rescue $!.class), 1.respond_to?(:zork), 1.then(&:zork)] }
module Pre; def m0 = [:pre, super]; end
Integer.prepend Pre
t(:refine_prepend) { 1.m0 }
module R2; refine String do; def method_missing(n, *a) = n == :foo_bar ? [:rmm, a] : super; end; end
using R2
t(:refine_mm) { "x".foo_bar(1) }
t(:binding_of) { b = [1, 2].each_with_index { |x, i| break binding }; [b.local_variables & [:x, :i], b.local_variable_get(:x), b.eval("x + i"), b.receiver == self] }
t(:binding_proc) { x = 1; pr = proc { x }; pr.binding.local_variable_set(:x, 9); [x, pr.call] }
t(:binding_meth) { def bm(a, b = 2, *c, k: 3, **o, &bl) = binding; bm(1).local_variables.sort }
t(:binding_new) { b = binding; b.local_variable_set(:fresh, 1); [b.local_variable_defined?(:fresh), b.eval("fresh"), (eval("fresh") rescue :none)] }
t(:binding_nest) { b1 = binding; b1.eval("q = 1; $b2 = binding; q2 = 2"); [$b2.local_variables.include?(:q2), $b2.eval("q + q2")] }
t(:binding_self) { Object.new.instance_eval { binding }.receiver.class }
t(:pat_many) { case { a: [1, { b: [2, 3, 4] }], c: nil }; in { a: [Integer => x, { b: [_, y, *z] }], c: nil, **nil } then [x, y, z] end }
t(:pat_pin) { a = 5; case [5, 6]; in [^a, ^(a + 1)] then :ok end }
t(:pat_find) { case [1, 2, :x, 3, :y, 4]; in [*, Symbol => s, Integer => i, *post] then [s, i, post] end }
t(:pat_alt_arr) { case [1, [2]]; in [0 | 1, [2 | 3] | 4 => q] then q end }
t(:pat_guard) { case 5; in Integer => n if n > 3 && (m = n * 2) then [n, m] end }
t(:pat_deconstruct) { c = Struct.new(:a, :b); case c.new(1, 2); in [a, b] then 1 end; case c.new(1, 2); in { a:, b: } then [a, b] end }
t(:pat_err) { case 5; in String then 1 end }
t(:pat_keyerr) { { a: 1 } => { b: } }
t(:pat_in) { [(5 in Integer), (5 in String), ({ a: 1 } in { a: String })] }
t(:masgn_order) { $o = []; def o(n) = ($o << n; self); def []=(i, v); $o << [:set, i, v]; end; o(1)[o(2) && 3], (o(4)[5], *o(6)[7]), o(8)[9] = 10, [11, 12, 13], 14; $o }
t(:masgn_splat) { a, (b, *c), *d, (e, f), g = 1, [2, 3, 4], 5, 6, [7, 8], 9; [a, b, c, d, e, f, g] }
t(:masgn_nil) { a, (b, c) = nil; [a, b, c] }
t(:masgn_self) { a = [1, [2, 3]]; a[0], a[1] = a[1], a[0]; a }
t(:opassign) { h = {}; h[:a] ||= (h[:b] ||= []) << 1; h[:b] &&= h[:b] + [2]; h }
t(:opassign_const) { Object.const_set(:OPC, nil); OPC ||= 5 rescue $!.class }
t(:safe_op) { x = nil; [x&.foo += 1, x&.bar ||= 2, x&.a&.b] }
t(:hdoc) { [<<~A, <<~B].map(&:strip) }
  a #{<<~C.strip} d
    c
  C
A
  b
B
t(:flip) { (1..10).select { |i| true if (i == 3)..(i == 5) } }
t(:flip3) { (1..10).select { |i| true if (i == 3)...(i % 3 == 0) } }
t(:string_esc) { "\u{1F600 41}\x41\101\cA\M-a\M-\C-a".bytes.size }
t(:rescue_splat) { ex = [IOError, KeyError]; begin; raise KeyError, "k"; rescue ArgumentError, *ex => e; e.class; end }
t(:rescue_expr) { begin; raise "x"; rescue (TypeError if false), StandardError; :r; end }
t(:rescue_attr) { o = Struct.new(:e).new; begin; raise "at"; rescue => o.e; end; o.e.message }
t(:rescue_idx) { h = {}; begin; raise "at"; rescue => h[:k]; end; h[:k].message }
t(:rescue_notclass) { begin; raise "x"; rescue 5; end }
t(:ensure_val) { def ev = (begin; 1; ensure; 2; end); ev }
t(:def_ret) { [(def foo1; end), (def self.foo2 = 1)] }
t(:class_ret) { [(class Foo3; 5; end), (module Foo4; self; end), (class << self; self.inspect[0, 8]; end)] }
t(:BEGIN) { defined?(yield) }
t(:kwsplat_nil) { def kn(**k) = k; kn(**nil) rescue $!.class }
t(:kw_dup) { def kd(a: 1, **o) = [a, o]; kd(**{ a: 2, "b" => 3 }, c: 4) }
t(:kw_block) { proc { |a, b: 2, **c| [a, b, c] }.call({ b: 3 }) }
t(:arg_eval_order) { $o = []; def q(*a, **k, &b) = $o; q(($o << 1; 1), *($o << 2; []), k: ($o << 3; 3), **($o << 4; {}), &($o << 5; nil)) }
t(:opt_args) { def oa(a, b = a * 2, c = b + a, *d, e) = [a, b, c, d, e]; [oa(1, 2), oa(1, 2, 3), oa(1, 2, 3, 4), oa(1, 2, 3, 4, 5)] }
t(:super_implicit) { a = Class.new { def m(a, b = 2, *c, k: 1, **o) = [a, b, c, k, o] }; b = Class.new(a) { def m(a, b = 5, *c, k: 7, **o) = (a += 1; super) }; b.new.m(1, k: 3, z: 4) }
t(:super_block) { a = Class.new { def m = yield }; b = Class.new(a) { def m = [1].map { super() } rescue 0 }; b.new.m { 6 } }
t(:super_in_dm) { a = Class.new { def m(x) = x * 2 }; b = Class.new(a) { define_method(:m) { |x| super(x) + 1 } }; b.new.m(4) }
t(:const_missing) { c = Class.new { def self.const_missing(n) = n }; [c::Foo, c.class_eval { self::Bar }] }
t(:singleton_chain) { o = Object.new; s = o.singleton_class; ss = s.singleton_class; def s.x = 1; [ss.instance_methods(false), s.x, ss.singleton_class?] }
t(:freeze_deep) { A1 = %w[a b].each(&:freeze).freeze; A1 << 1 }
t(:objid) { 1.object_id == 1.object_id && nil.object_id == 8 }
t(:cyc) { a = []; a << a; h = { a: a }; h[:h] = h; [a.inspect, a.hash == a.hash, a == a] }
t(:cmp_rec) { a = []; a << a; b = []; b << b; a == b }
t(:gsub_hash) { "cat".gsub(/[aeiou]/, "a" => "<A>") }
t(:catch_obj) { catch { |tag| throw tag, 7 } }
t(:throw_un) { throw :nope }
t(:exit_ensure) { begin; exit(3); rescue SystemExit => e; e.status; end }
t(:method_obj) { m = 5.method(:+); um = m.unbind; [um.bind(7).call(1), m.owner, m.arity, m.name] }
t(:alias_super) { a = Class.new { def m = :a }; b = Class.new(a) { def m = [:b, super]; alias n m }; b.new.n }
t(:respond_mm) { o = Object.new; def o.respond_to_missing?(*) = true; o.method(:anything).class }
t(:inst_var_get) { o = Object.new; o.instance_variable_set(:@a, 1); [o.instance_variable_get(:@a), (o.instance_variable_get("a") rescue $!.class)] }
t(:cvar_top) { eval("@@x") }
t(:eval_local) { eval("zz1 = 5"); (eval("zz1") rescue :gone) }
t(:ObjSp) { ObjectSpace.each_object(Class).first.class }
t(:trace) { r = []; tp = TracePoint.new(:call, :return) { |x| r << [x.event, x.method_id] }; def tm = 1; tp.enable { tm }; r }
t(:comparable) { c = Class.new { include Comparable; attr_reader :v; def initialize(v) = @v = v; def <=>(o) = v <=> o.v }; [c.new(1) < c.new(2), c.new(3).clamp(c.new(1), c.new(2)).v] }
t(:coerce) { c = Class.new { def coerce(o) = [o, 10] }; [5 + c.new, 5 * c.new, (5 <=> c.new)] }
