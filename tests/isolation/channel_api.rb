C = RubyVM::Channel
def try
  yield
rescue Exception => e
  "#{e.class}: #{e.message}"
end

# Order and copies.
c = C.new
c << 1 << "two" << [3]
p c.size, c.recv, c.recv, c.recv, c.empty?
p c.try_recv, c.recv(timeout: 0), c.recv(timeout: 0.001)

# Bounds.
b = C.new(2)
p b.try_send(1), b.try_send(2), b.try_send(3), b.send(4, timeout: 0), b.send(4, timeout: 0.001), b.size
p b.recv, b.send(5, timeout: 0) == b, b.recv, b.recv

# Bytes: one message may be larger than the limit, if it is alone.
w = C.new(bytes: 1000)
p w.try_send("x" * 5000), w.try_send(1), w.queued_bytes >= 5000
p w.recv.size, w.queued_bytes, w.try_send("y" * 500), w.try_send("z" * 600), w.try_send("z" * 100), w.size

# Closing.
p c.closed?, c.close == c, c.close == c, c.closed?
p try { c << 1 }, try { c.recv }, try { c.try_recv }, try { c.try_send(1) }, try { c.send(Thread.current) }
d = C.new
d << :queued
d.close
p d.recv, try { d.recv }, try { d.recv(timeout: 1) }
p d.each { raise }.equal?(d), d.each.to_a

# A sender that waits for room gets the error, a receiver that waits too; what is queued can be received still.
full = C.new(1) << :kept
sender = Thread.new { try { full << :never } }
receiver = Thread.new { e = C.new; Thread.new { sleep 0.01; e.close }; try { e.recv } }
Thread.pass until full.num_waiting == 1
full.close
p sender.value, full.recv, try { full.recv }, receiver.value

# Unsendable: nothing is queued.
u = C.new
p try { u << [1, Thread.current] }, try { u.try_send(binding) }, u.size

# Arguments.
p try { C.new(0) }, try { C.new(-1) }, try { C.new("x") }, try { C.new(bytes: 0) }, try { C.new(1, foo: 2) }, C.new(nil, bytes: nil).size
p try { u.recv(timeout: -1) }, try { u.recv(timeout: "x") }, try { u.send }, try { u.recv(time: 1) }, try { C.allocate.recv }, try { C.allocate << 1 }
p try { u.recv(1) }

# Handles.
h = u.dup
h << 7
p u.recv, h == u, h.eql?(u), h.hash == u.hash, u == 1, { u => 1 }[u.clone], try { Marshal.dump(u) }
p u.inspect =~ /\A#<RubyVM::Channel:\d+ size=0>\z/, h.close.inspect =~ / size=0 closed>\z/
class Sub < C
  attr_accessor :tag
end
s = Sub.new(1)
s.tag = "t"
u = C.new
u << s
r = u.recv
p r.class, r.tag, r == s, s.try_send(1), r.try_send(2)
