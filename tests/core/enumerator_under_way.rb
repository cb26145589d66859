# Who asks an Enumerator that is under way elsewhere is refused, and it goes on as it was.
q = Thread::Queue.new
e = Enumerator.new { |y| q.pop; y << 1; y << 2; y << 3 }
got = []
r = Thread.new { 3.times { got << e.next } }
Thread.pass until q.num_waiting == 1
p(Array.new(3) { (e.next rescue $!.class) })
q << 1
r.join
p got

# From the block itself.
e = Enumerator.new { |y| y << (e.next rescue $!.class); y << 2 }
p e.next, e.next, (e.next rescue $!.class)

# Of another thread.
e = [1, 2, 3].each
p Thread.new { e.next }.value
p((e.next rescue $!.message))

# An enumeration that failed begins anew.
n = 0
e = Enumerator.new { |y| n += 1; y << n; raise "none" if n == 1; y << :more }
p e.next, (e.next rescue $!.message), e.next, e.next
