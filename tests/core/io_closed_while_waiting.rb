# A thread waits at a descriptor that another closes; what is opened next gets the same number, and is not what the thread goes on with.
def outcome
  value = yield
  [:read, value]
rescue IOError => e
  [e.class, e.message]
end

# One pipe after the other, until a new one has a number of the closed one.
def reuse(number)
  made = []
  20.times do
    made << IO.pipe
    return made if made.last.map(&:fileno).include?(number)
  end
  made
end

# Reading.
r, w = IO.pipe
number = r.fileno
reader = Thread.new { outcome { r.read(1) } }
Thread.pass until reader.stop?
r.close
others = reuse(number)
others.each { |_, out| out.write("x") }
p reader.value
p others.map { |from, _| from.read_nonblock(2) }.uniq
others.flatten.each(&:close)
w.close

# Reading lines.
r, w = IO.pipe
number = r.fileno
reader = Thread.new { outcome { r.gets } }
Thread.pass until reader.stop?
r.close
others = reuse(number)
others.each { |_, out| out.puts("line") }
p reader.value
p others.map { |from, _| from.gets }.uniq
others.flatten.each(&:close)
w.close

# Writing to a full pipe.
r, w = IO.pipe
number = w.fileno
writer = Thread.new { outcome { w.write("a" * 1_000_000) } }
Thread.pass until writer.stop?
w.close rescue p $!.class
others = reuse(number)
p writer.value
p others.map { |from, _| IO.select([from], nil, nil, 0) }.uniq
others.flatten.each(&:close)
r.close

# One direction is closed, and who waits at the other goes on waiting.
io = IO.popen("cat", "r+")
reader = Thread.new { outcome { io.read } }
Thread.pass until reader.stop?
io.write("through")
io.close_write
p reader.value
io.close
