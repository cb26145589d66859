# IO#timeout= bounds writing, too.
def filled(io, text = "x" * 100_000)
  100.times { yield io, text }
  puts "never full"
rescue IO::TimeoutError => e
  puts "#{e.class}: #{e.message}"
end
r, w = IO.pipe
w.timeout = 0.01
filled(w) { |io, t| io.syswrite(t) }
filled(w) { |io, t| io.write(t) }
p r.read_nonblock(10).size, w.timeout
w.timeout = nil
t = Thread.new { w.write("y" * 200_000) }
n = 0
n += r.readpartial(65536).count("y") until n == 200_000
p t.value
# Descriptors that are not open for it: the system's answer, as a number.
Warning[:experimental] = false
b = IO::Buffer.new(8)
p b.write(r, 4) == -Errno::EBADF::Errno, b.read(w, 4) == -Errno::EBADF::Errno, b.pwrite(r, 0, 4) < 0, b.pread(w, 0, 4) < 0
