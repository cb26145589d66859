# Without --gc=stress. Images, forked VMs and forked processes that are made in the middle of hot loops: both sides go on with what there was.
def hot(n, at)
  s = 0
  f = 0.5
  a = [1, 2]
  i = 0
  while i < n
    s += i * 3
    f += 0.5
    a[i & 1] = s & 7
    yield s, f, a if i == at
    i += 1
  end
  [s, f, a]
end
p hot(4000, 2000) {}
# A VM that grows from the state in the middle.
$kept = nil
out = RubyVM::Channel.new
mine = hot(4000, 2000) do |s, f, a|
  $kept = [s, f, a]
  RubyVM.fork(out) { |o| r = hot(4000, 3000) { |*v| $kept << v.size }; o << [r, $kept] }.join
end
p mine, out.recv, $kept
# An image of it, twice; what one changes stays its own.
image = nil
hot(4000, 1000) { |s, f, a| $kept = [s, f, a]; image = RubyVM::Image.capture }
2.times do |k|
  image.spawn(out) { |o| $kept[2] << 9; o << [$kept, hot(4000, 500) {}] }.join
  p out.recv
end
# Redefinition before the image: the child has it, and its loops know.
class Integer
  alias plus +
  def triple = self * 3
end
im = RubyVM::Image.capture
im.spawn(out) { |o| class Integer; def *(x) = 1; end; o << hot(3000, 5) {} }.join
p out.recv, hot(3000, 5) {}
# fork(2) with machine code: the child runs it, and makes more.
r, w = IO.pipe
mine = hot(6000, 3000) do |s, f, a|
  pid = fork do
    r.close
    t = hot(5000, 4000) {}
    u = 0
    3000.times { |i| u ^= i * 5 }
    w.puts [s, f, a, t, u].inspect
    w.close
    exit!(0)
  end
  w.close
  Process.wait(pid)
  p $?.success?
end
puts r.read
p mine
# A child of a child, made in blocks and recursion.
def tree(n) = n == 0 ? 1 : tree(n - 1) + tree(n - 1)
500.times { tree(4) }
r, w = IO.pipe
[1, 2].each do |k|
  pid = fork do
    q = fork { w.puts "inner #{k} #{tree(10)}"; exit!(0) }
    Process.wait(q)
    w.puts "outer #{k} #{eval("s = 0; 4000.times { |i| s += i }; s")}"
    exit!(0)
  end
  Process.wait(pid)
end
w.close
puts r.read
# The parent lets go of codes that the child still runs, and makes others in their place.
r, w = IO.pipe
go, gone = IO.pipe
eval("def mortal(n) = (s = 0; n.times { |i| s += i }; s)")
30.times { mortal(1000) }
pid = fork do
  gone.close
  go.read
  w.puts 200.times.map { mortal(1000) }.uniq.inspect
  exit!(0)
end
w.close
go.close
eval("def mortal(n) = n")
GC.start
60.times { |k| eval("def other#{k}(n) = (s = #{k}; n.times { |i| s ^= i * #{k} }; s)"); 20.times { send("other#{k}", 900) } }
gone.close
Process.wait(pid)
puts r.read
