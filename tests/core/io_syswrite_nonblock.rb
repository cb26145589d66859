# syswrite to a pipe in non-blocking mode writes what goes and says how much; in blocking mode it writes everything.
require "io/nonblock"
reader, writer = IO.pipe
text = "a" * 300_000
writer.nonblock = true
n = writer.syswrite(text)
p n.positive?, n < text.size
p reader.readpartial(400_000).size == n
writer.nonblock = false
got = Thread.new { reader.read.size }
p writer.syswrite(text)
writer.close
p got.value
