# Reads of a pipe whose bytes are there, come later, or never come.
r, w = IO.pipe
w << "abcdef"
buf = +"xyz"
p r.read(2), r.read(1, buf), buf, r.readpartial(10), r.closed?
t = Thread.new { [r.read(3), r.readpartial(100), r.gets] }
Thread.pass until t.status == "sleep"
w << "12"
Thread.pass
w << "345\n"
sleep 0.01
w << "line\n"
p t.value.join
w << "tail"
w.close
p r.read(2), r.getc, r.read(10), r.read(10), r.read, (r.readpartial(1) rescue $!.class)
r.close
r, w = IO.pipe
t = Thread.new { r.read(1) }
t.report_on_exception = false
Thread.pass until t.status == "sleep"
r.close
p((t.value rescue [$!.class, $!.message]))
w.close
r, w = IO.pipe
r.timeout = 0.02
p((r.read(1) rescue $!.class))
w << "z"
p r.read(1)
data = "0123456789" * 50_000
writer = Thread.new { w.write(data); w.close }
got = +""
while (part = r.read(70_001))
  got << part
end
p got == data, writer.value
p File.open("/dev/zero", "rb") { |f| [f.read(5), f.read(100_000).sum, f.readpartial(3).bytesize, f.sysread(4)] }
p File.open("/dev/null") { |f| [f.read(5), f.read, (f.readpartial(1) rescue $!.class)] }
