# Fibers being killed, raising in ensure, deep in other constructs.
def t(n) = puts("#{n}: #{begin; yield.inspect; rescue Exception => e; "#{e.class}: #{e.message}"; end}")
t(:deep) { f = Fiber.new { [1, 2].each { |a| { a => 1 }.each { |k, v| [k].map { |z| Fiber.yield z } } }; :end }; [f.resume, f.resume, f.resume] }
t(:nested) { f = Fiber.new { g = Fiber.new { Fiber.yield 1; 2 }; Fiber.yield g.resume; g.resume }; [f.resume, f.resume] }
t(:raise_in) { f = Fiber.new { begin; Fiber.yield; rescue => e; e.message; end }; f.resume; f.raise("boo") }
t(:raise_cls) { f = Fiber.new { begin; Fiber.yield; ensure; $e = 1; end }; f.resume; f.raise(ArgumentError, "x") rescue [$!.class, $e] }
t(:dead) { f = Fiber.new { }; f.resume; f.resume }
t(:ensure_yield) { f = Fiber.new { begin; Fiber.yield 1; ensure; Fiber.yield 2; end }; [f.resume, f.raise("x"), (f.resume rescue $!.message)] }
t(:self_resume) { f = Fiber.new { f.resume }; f.resume }
t(:double) { f = Fiber.new { g = Fiber.new { f.resume }; g.resume }; f.resume }
t(:across) { f = Fiber.new { 1 }; Thread.new { f.resume rescue $!.message }.value }
t(:args) { f = Fiber.new { |a, b = 2, *c, d: 4| x = Fiber.yield [a, b, c, d]; y, z = Fiber.yield x; [y, z] }; [f.resume(1), f.resume(:q), f.resume(7, 8)] }
t(:yield_none) { f = Fiber.new { [Fiber.yield, Fiber.yield(1, 2)] }; [f.resume, f.resume(5), f.resume(6, 7)] }
t(:enum_err) { e = Enumerator.new { |y| y << 1; raise "gen" }; [e.next, (e.next rescue $!.message), e.next] }
t(:enum_size) { e = Enumerator.new(3) { |y| y.yield 1, 2; y << nil; y.yield }; [e.size, e.next, e.next, e.next, (e.next rescue $!.class)] }
t(:peek) { e = [1, nil, [2, 3]].each; r = []; loop { r << e.peek; r << e.next_values }; r }
t(:rewind) { e = [1, 2].each; [e.next, e.next, e.rewind.next] }
t(:result) { o = Object.new; def o.each; yield 1; :res; end; e = o.to_enum; e.next; begin; e.next; rescue StopIteration; [$!.result, (e.next rescue $!.result)]; end }
t(:feed) { e = [1, 2, 3].map; r = []; 3.times { |i| r << e.next; e.feed i * 10 }; begin; e.next; rescue StopIteration; [r, $!.result]; end }
t(:feed2) { e = [1].each; e.feed 1; e.feed 2 }
t(:dup) { e = [1, 2].each; e.next; e.dup }
t(:dup2) { e = [1, 2].each; e.next; e.next; (e.next rescue 0); e.dup.next }
t(:with_index) { e = %w[a b].each_with_index; [e.next, e.next] }
t(:two) { a = [1, 2, 3].each; b = %w[x y].each; r = []; loop { r << [a.next, b.next] }; [r, a.next] }
t(:inside) { e = Enumerator.new { |y| f = [1, 2].each; loop { y << f.next * 2 }; y << :done }; e.to_a }
t(:inside2) { e = Enumerator.new { |y| f = [1, 2].each; loop { y << f.next * 2 }; y << :done }; [e.next, e.next, e.next, (e.next rescue 1)] }
t(:recursive) { def walk(t) = Enumerator.new { |y| t.each { |x| x.is_a?(Array) ? walk(x).each { |z| y << z } : y << x } }; e = walk([1, [2, [3, [4]]], 5]); r = []; loop { r << e.next }; r }
t(:recursive_next) { def walk2(t) = Enumerator.new { |y| t.each { |x| if x.is_a?(Array) then s = walk2(x); loop { y << s.next } else y << x end } }; e = walk2([1, [2, [3, [4]]], 5]); r = []; loop { r << e.next }; r }
t(:many) { es = Array.new(100) { |i| (i..).each }; 3.times.map { es.sum(&:next) } }
t(:lazy) { e = (1..).lazy.select(&:even?).map { |x| x * x }; [e.next, e.next, e.peek, e.first(2)] }

t(:zip) { [1, 2].each.zip([3, 4].each, (5..).each) }
t(:throw) { catch(:x) { f = Fiber.new { throw :x, 1 }; f.resume } }
t(:local) { Thread.current[:a] = 1; [Fiber.new { Thread.current[:a] }.resume, Thread.current[:a]] }
t(:errinfo) { begin; raise "o"; rescue; f = Fiber.new { $!.inspect }; [f.resume, $!.message]; end }
t(:backtrace) { f = Fiber.new { raise "bt" }; begin; f.resume; rescue => e; e.backtrace.size; end }
t(:stack) { f = Fiber.new { def deep(n) = deep(n + 1); begin; deep(0); rescue SystemStackError => e; e.message; end }; f.resume }
t(:stack_enum) { e = Enumerator.new { |y| def d2(n, y) = n == 0 ? y << :bottom : d2(n - 1, y); d2(800, y) }; e.next }
t(:gc) { fs = Array.new(30) { |i| Fiber.new { x = "s#{i}" * 10; Fiber.yield; x.size } }; fs.each(&:resume); GC.start; fs.sum(&:resume) }
t(:abandoned) { 200.times { Fiber.new { Fiber.yield 1 }.resume }; GC.start; :ok }
t(:cur) { f = Fiber.new { Fiber.current.equal?(f) }; f.resume }
t(:transfer) { m = Fiber.current; f = Fiber.new { m.transfer :back }; f.transfer }
t(:break_out) { def it3; yield 1; yield 2; ensure; $en = :ran; end; e = to_enum(:it3); e.next; $en = nil; e = nil; GC.start; :ok }
