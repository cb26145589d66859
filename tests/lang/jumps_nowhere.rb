# A `return` or `break` whose method has ended is an error where it stands: before ensure clauses run.
$log = []
def returning = proc { begin; return 1; rescue LocalJumpError => e; $log << :rescued; [e.reason, e.exit_value]; ensure; $log << :ensure; end }
def breaking = proc { begin; break 2; rescue LocalJumpError => e; $log << :rescued; [e.reason, e.exit_value]; ensure; $log << :ensure; end }
def inner = proc { begin; begin; return 3; ensure; $log << :inner; end; rescue LocalJumpError => e; e.reason; ensure; $log << :outer; end }
def nested = proc { begin; [1].each { begin; return 4; ensure; $log << :each; end }; rescue LocalJumpError => e; e.reason; end }
p returning.call, breaking.call, inner.call, nested.call, $log
p Thread.new { returning.call }.value
# Those that have somewhere to go run their clauses on the way.
$log.clear
def live = [1].each { begin; return 5; rescue LocalJumpError; 6; ensure; $log << :live; end }
def broken = [1].each { begin; break 7; rescue LocalJumpError; 8; ensure; $log << :broken; end }
p live, broken, lambda { begin; return 9; ensure; $log << :lambda; end }.call, $log
p((proc { begin; return 10; ensure; p :out; end }.then { |pr| define_method(:m, &pr) rescue self.class.define_method(:m, &pr); m }))
# `next` in a condition looks at the condition again.
n = 0
[1].each { (n += 10) while (next if (n += 1) % 3 != 0; n < 20) }
p n
n = 0
n += 1 until (next if (n += 1) < 5; true)
p n
