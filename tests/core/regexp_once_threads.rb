# A literal with `o` is made once, also where two threads come by at once: the second waits for what the first makes of it.
step = 0
f = proc { |s, c| /#{c.call; s}/o }
second = Thread.new do
  sleep 0.001 until step == 1
  step = 2
  f.call("bar", proc { raise "made twice" })
end
first = Thread.new { f.call("foo", proc { step = 1; sleep 0.001 until step == 2; sleep 0.001 }) }
p [first, second].map { |t| t.value.source }
p f.call("baz", proc { raise }).source

# An error leaves it as if nobody had begun.
tries = 0
g = proc { |bad| /#{raise "no" if bad; tries += 1}/o }
2.times { begin; g.call(true); rescue => e; p e.message; end }
p Thread.new { g.call(false).source }.value, g.call(true).source

# Within itself; and left by a jump.
depth = 0
h = proc { /#{(depth += 1) < 3 ? h.call.source : "deep"}/o }
p h.call.source, depth
def left(go) = [1].each { /#{break :left if go; "x"}/o }
p left(true), Thread.new { left(false) }.value
def thrown(go) = catch(:out) { /#{throw :out, :thrown if go; "y"}/o }
p thrown(true), Thread.new { thrown(false) }.value
