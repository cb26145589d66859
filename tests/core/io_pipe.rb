r, w = IO.pipe
w.write("line 1\nline 2\n", "par", :tial)
w.puts 1, [2, 3]
w.print "x", 1
w << "y" << 2
w.close
p r.gets
p r.readline
p r.read(3)
p r.readchar
p r.getc
p r.ungetc("T")
p r.readbyte
p r.gets
p r.readlines
p r.eof?
p r.gets
p r.read
p r.read(1)
p r.closed?
r.close
p r.closed?
p((r.read rescue $!.class))
p((r.close))
p w.closed?
a, b = IO.pipe
b.sync = true
b.write_nonblock("abc")
p a.readpartial(10)
p((a.read_nonblock(1) rescue $!.class))
p b.fileno.class
p a.tty?
p b.close
p((a.readpartial(1) rescue $!.class))
p a.close
IO.pipe { |x, y| y << "block"; y.close; p x.read }
c, d = IO.pipe
d.write("é日\xff")
d.close
p c.getc
p c.getc
p c.getc
p c.getc
p IO.select([STDIN], nil, nil, 0).class
p $stdout.respond_to?(:write)
p STDERR.fileno
p $stdin.class
