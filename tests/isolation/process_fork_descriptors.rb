# A forked child has none of the descriptors of other VMs: who waits for the end of their pipes in the parent sees it while the child lives.
hold, release = IO.pipe
r, w = IO.pipe
go, up = RubyVM::Channel.new, RubyVM::Channel.new
other = RubyVM.fork(w, go, up) { |w, go, up| up << 1; go.recv; w.write "late"; w.close }
w.close
up.recv
a, b = IO.pipe
pid = fork { release.close; b.puts((r.read_nonblock(1) rescue $!.class)); b.puts "kept"; hold.read; exit! 3 }
b.close
p a.gets, a.gets
go << 1
p other.join.class
p 2.times.map { r.wait_readable(5) ? r.read_nonblock(9, exception: false) : :late }
release.close
p Process.wait2(pid)[1].exitstatus
