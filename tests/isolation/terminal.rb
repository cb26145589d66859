# The terminal of the process is the main VM's to change; terminals that a VM opens are its own.
require "pty"
require "rbconfig"

inside = <<'RUBY'
  require "io/console"
  require "pty"
  code = <<~CODE
    require "io/console"
    require "pty"
    def try(what)
      yield
      puts "\#{what}: done"
    rescue SystemCallError => e
      puts "\#{what}: \#{e.class}"
    end
    tty = File.open("/dev/tty", "r+")
    [$stdin, tty].each_with_index do |io, i|
      try("raw \#{i}") { io.raw! }
      try("size \#{i}") { io.winsize = [11, 22] }
      try("drop \#{i}") { io.iflush }
      try("ioctl \#{i}") { io.ioctl(0x540B, 0) }
    end
    try("console number") { IO.const_get(:ConsoleSys).set_mode(tty.fileno, IO.const_get(:ConsoleSys).mode(0), false) }
    puts $stdin.winsize == tty.winsize
    own, other = PTY.open
    try("own") { other.raw!; other.winsize = [5, 6]; p other.winsize }
    $stdout.flush
  CODE
  before = $stdin.console_mode.inspect, $stdin.winsize
  RubyVM.new("other", "-e", code).start.join
  puts "unchanged: #{($stdin.winsize) == before[1]}"
  $stdin.raw!
  $stdin.winsize = [7, 8]
  $stdin.cooked!
  p $stdin.winsize
RUBY
PTY.spawn(RbConfig.ruby, "-e", inside) do |out, _in, pid|
  text = +""
  begin
    loop { text << out.readpartial(4096) }
  rescue EOFError, Errno::EIO
    Process.wait(pid)
  end
  puts text.delete("\r")
end
