# Every jump out of every nesting, with ensure on the way.
$log = []
def log(x) = $log << x
def yielder; log :y1; r = yield 1; log [:y2, r]; r; ensure; log :ye; end
def via_proc(&b) = b.call(2)
def via_lambda(b) = b.(3)
def show(name)
  $log = []
  r = begin; yield; rescue LocalJumpError, StandardError => e; [e.class, e.message]; end
  puts "#{name}: #{r.inspect} #{$log.inspect}"
end
show(:break_yield) { yielder { |x| begin; break x + 1; ensure; log :b; end } }
show(:next_yield) { yielder { |x| begin; next x + 1; ensure; log :b; end } }
show(:break_proc) { via_proc { |x| break x * 2 } }
show(:break_nested) { [1, 2].each { |a| [3, 4].each { |b| begin; break [a, b]; ensure; log [:in, a, b]; end }; log [:after, a] } }
def ret; [1, 2].each { |a| begin; [3].each { |b| begin; return [a, b]; ensure; log :i; end }; ensure; log :o; end }; :no; ensure; log :m; end
show(:return_nested) { ret }
def ret_override; begin; return 1; ensure; return 2; end; end
show(:override) { ret_override }
def brk_override; while true; begin; return 1; ensure; break; end; end; :after; end
show(:brk_override) { brk_override }
def next_in_ensure; [1, 2, 3].map { |x| begin; raise "x" if x == 2; x; ensure; next x * 10; end }; end
show(:next_in_ensure) { next_in_ensure }
show(:lambda_ret) { via_lambda(->(x) { begin; return x; ensure; log :l; end }) }
show(:proc_in_lambda) { l = -> { [1].each { return :from_lambda }; :no }; l.call }
show(:lambda_break) { l = lambda { [1].each { break }; :yes }; l.call }
def orphan; proc { return 1 }; end
show(:orphan_ret) { orphan.call }
def orphan_b; proc { break 1 }; end
show(:orphan_brk) { orphan_b.call }
show(:orphan_next) { proc { next 7 }.call }
show(:rescued_break) { Thread.new { begin; break 1; rescue LocalJumpError => e; [e.reason, e.exit_value]; end }.value }
show(:thread_ret) { Thread.new { begin; return 1; rescue LocalJumpError => e; [e.reason, e.exit_value]; end }.value }
show(:fiber_brk) { Fiber.new { begin; break 1; rescue LocalJumpError => e; e.message; end }.resume }
show(:fiber_ret) { f = Fiber.new { [1, 2].each { |x| Fiber.yield x }; :end }; [f.resume, f.resume, f.resume] }
show(:throw) { catch(:t) { yielder { begin; throw :t, 5; ensure; log :th; end } } }
show(:throw_in_ensure) { catch(:t) { begin; raise "x"; ensure; throw :t, 6; end } }
show(:retry) { n = 0; begin; n += 1; raise "x" if n < 3; n; rescue; log n; retry; ensure; log :en; end }
show(:retry_nested) { n = 0; begin; [1].each { begin; n += 1; raise "x" if n < 4; rescue; retry if n < 3; raise; end }; n; rescue => e; n = 10; retry; end }
show(:redo) { n = 0; [1, 2].map { |x| n += 1; redo if n < 3; [x, n] } }
show(:redo_while) { i = 0; r = []; while i < 2; i += 1; r << i; redo if r.size == 1; end; r }
show(:while_val) { while true; break; end }
show(:while_val2) { while true; break 1, 2; end }
show(:while_val3) { i = 0; x = while i < 1; i += 1; end; x }
show(:begin_while) { i = 0; begin; i += 1; next if i == 2; log i; end while i < 3; i }
show(:until_mod) { i = 0; i += 1 until i == 5; i }
show(:break_in_cond) { while (break :c if true); end }
show(:break_in_ensure_exc) { [1].each { begin; raise "lost"; ensure; break :kept; end } }
show(:errinfo) { begin; raise "a"; rescue; [1].each { begin; raise "b"; rescue; break; end }; $!.message; end }
show(:errinfo2) { [1, 2].each { begin; raise "b"; rescue; next; end }; $! }
show(:define_method_ret) { o = Class.new { define_method(:m) { |x| [1].each { return x }; :no } }.new; o.m(4) }
show(:define_method_brk) { o = Class.new { define_method(:m) { |x| break x; :no } }.new; o.m(4) }
show(:instance_exec_ret) { ->() { 1.instance_exec { return self + 1 }; :no }.call }
show(:sym_proc_brk) { [[1, 2]].each { |a, b| break b } }
show(:curry_ret) { l = ->(a, b) { return a + b }; l.curry[1][2] }
show(:method_to_proc) { def mm(x) = (return x * 2); [1, 2].map(&method(:mm)) }
show(:ensure_order) { begin; begin; log 1; ensure; log 2; begin; log 3; raise "q"; rescue; log 4; ensure; log 5; end; end; ensure; log 6; end; 7 }
show(:ensure_raise) { begin; begin; raise "a"; ensure; raise "b"; end; rescue => e; [e.message, e.cause.message]; end }
show(:nested_rescue_else) { begin; 1; rescue; 2; else; log :else; 3; ensure; log :ens; 4; end }
show(:else_raise) { begin; begin; 1; rescue; :no; else; raise "e"; ensure; log :x; end; rescue => e; e.message; end }
show(:loop_stop) { loop { raise StopIteration, "z" } }
show(:loop_ret) { e = [1, 2].each; loop { e.next } }
show(:loop_brk) { loop { break 1, 2 } }
show(:loop_nested) { r = []; loop { loop { r << 1; break }; r << 2; break if r.size > 3 }; r }
show(:loop_retry) { n = 0; loop { begin; n += 1; raise "x" if n < 3; break n; rescue; retry; end } }
show(:enum_brk) { e = Enumerator.new { |y| begin; y << 1; y << 2; ensure; log :gen; end }; e.each { |x| break x } }
show(:lazy_brk) { (1..Float::INFINITY).lazy.map { |x| x * 2 }.each { |x| break x if x > 5 } }
show(:zip_brk) { [1, 2].zip([3, 4]) { |a, b| break [a, b] } }
show(:inject_brk) { (1..5).inject { |a, b| break a if b > 3; a + b } }
show(:sort_brk) { [3, 1, 2].sort { |a, b| break :sorted } }
show(:hash_brk) { { a: 1, b: 2 }.each { |k, v| break k } }
show(:hash_new_brk) { h = Hash.new { |hh, k| next k * 2 }; h[4] }
show(:gsub_brk) { "abc".gsub(/b/) { break :g } }
show(:at_tap) { 5.tap { |x| break x + 1 } }
show(:then_next) { 5.then { |x| next x + 1 } }
show(:catch_ret) { ->() { catch(:x) { return 3 }; 4 }.call }
show(:Integer_times) { 10.times { |i| break i if i == 4 } }
show(:ensure_in_times) { 3.times { |i| begin; break i if i == 1; ensure; log i; end } }
