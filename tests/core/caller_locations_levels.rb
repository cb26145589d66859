# As many levels as are asked for.
def levels(*args) = caller_locations(*args)&.map { |l| [l.lineno.class, l.label, l.base_label] }
def below(n, &block) = n == 0 ? block.call : below(n - 1, &block)
count = caller_locations(0).size
p levels(0), levels(1, 1), levels(0, 0), levels(0, 1), levels(0..0), levels(count + 1), levels(count + 1, 1), levels(count + 2), levels(count + 2, 0), levels(count + 2, 1), levels(1000, 1)
below(2) { p levels(0, 3), levels(2, 2).size, levels(1..3).map { |l| l[1] }, caller(0, 1).size, caller(1000) }
p [1].map { |x| caller_locations(0, 2).map(&:label) }, [[1]].each { |(x)| [x].each { break caller_locations(0, 1).map { |l| [l.label, l.base_label, l.to_s] } } }
[[-1], [0, -1]].each { |a| caller_locations(*a) rescue puts $!.message }
p Marshal.dump(caller_locations(0, 1)) rescue puts $!.message
saved = caller_locations(0, 1)[0]
e = RuntimeError.new("x")
e.set_backtrace([saved])
p e.backtrace_locations[0].label, e.backtrace[0] == saved.to_s
