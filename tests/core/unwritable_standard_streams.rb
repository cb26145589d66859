# Standard streams that can't be written to: warnings never end a program; what is held back is told before another process starts.
EXE = File.readlink("/proc/self/exe")
def status(*args, **streams)
  told = IO.popen([EXE, *args, err: [:child, :out], **streams], &:read)
  # (The reference names its C function.)
  [$?.exitstatus, told.sub(/ @ \w+/, "").lines.first&.chomp]
end
def mute(text, *options) = status(*options, "-e", text, err: "/dev/full")
def full(text) = status("-e", "STDOUT.reopen('/dev/full'); #{text}")

p mute("warn 1; exit 2")
p mute("x=1; def a;end; def a;end; exit 3", "-w")
p mute('p((Warning.warn("x\n") rescue $!)); exit 3')
p mute('p((warn("a", uplevel: 0) rescue $!)); exit 3')
p mute('$stderr = File.open("/dev/full", "w"); p((warn("a") rescue $!)); exit 3')
p mute('$stderr = File.open("/dev/full", "w"); $stderr.sync = true; p((warn("a") rescue $!.class)); exit 3')
p mute('$stderr = Object.new; def $stderr.write(*) = raise("no"); p((warn("a") rescue $!)); exit 3')
p mute('STDERR.close; p((warn("a") rescue $!)); exit 3')
p mute('def STDERR.write(*) = p(1); p((warn("a") rescue $!)); exit 3')
p mute('p((STDERR.puts(1) rescue $!.class)); exit 3')

p full("puts 1; system('true'); warn 2")
p full("puts 1; `true`")
p full("puts 1; spawn('true')")
p full("puts 1; IO.popen('true').read")
p full("puts 1; fork { }")[0]
p full("puts 1; (system('true') rescue warn($!.class)); exit 3")
p full("puts 1; exit 3"), full("puts 1; gets; exit 4")

# A standard stream stays what it is for.
def told = yield rescue [$!.class, $!.message]
p told { STDERR.reopen(File.open("/dev/null", "r")) }
p told { STDOUT.reopen("/dev/null", "r") }
p told { STDIN.reopen(File.open("/dev/null", "a")) }
p told { STDIN.reopen("/dev/null", "w") }
p told { STDIN.reopen(File.open("/dev/null", "w+")).closed? }
p told { File.open("/dev/null").reopen(File.open("/dev/null", "w")).closed? }
