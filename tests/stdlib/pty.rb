# Pseudo terminals and what a terminal is asked and told.
require "pty"
require "io/console"

puts "-- two sides"
PTY.open do |master, slave|
  p master.class, slave.class, slave.tty?, File.chardev?(slave.path)
  slave.winsize = [30, 90]
  p master.winsize, slave.winsize
  slave.winsize = [20, 70, 0, 0]
  p master.winsize
  master.puts "hello"
  p slave.gets
  p slave.raw { |io| master.write "q"; io.getch }
  p slave.echo?
  p slave.noecho { |io| io.echo? }
  slave.echo = false
  p slave.echo?
  slave.echo = true
  mode = slave.console_mode
  slave.raw!
  master.write "\x03"
  p slave.getc
  slave.console_mode = mode
  p slave.echo?, slave.raw(intr: true) { |io| io.echo? }
  master.write "secret\n"
  p slave.getpass
  master.write "dropped"
  slave.iflush
  master.write "kept\n"
  p slave.gets
  p slave.getch(min: 0, time: 0.1)
  p slave.console_mode.raw.class
end
p PTY.open.map { |io| io.close; io.closed? }

puts "-- programs"
PTY.spawn("test -t 0 && echo terminal; stty size; read x; echo got $x; exit 3") do |output, input, pid|
  input.puts "abc"
  lines = []
  begin
    while line = output.gets
      lines << line
    end
  rescue Errno::EIO => e
    lines << e.class
  end
  puts lines.map(&:inspect).sort
  Process.wait(pid)
  p $?.exitstatus
end
output, _input, pid = PTY.spawn("sleep 0.1; exit 2")
p PTY.check(pid)
begin
  output.read
rescue Errno::EIO
end
sleep 0.2
p PTY.check(pid)&.exitstatus
p PTY.check(pid)
begin
  PTY.spawn("/not/there")
rescue SystemCallError => e
  p e.class
end

puts "-- no terminal"
[-> (f) { f.winsize }, -> (f) { f.raw {} }, -> (f) { f.echo = true }, -> (f) { f.console_mode }].each do |ask|
  File.open("/dev/null") { |f| ask.call(f) }
rescue SystemCallError => e
  p e.class
end
