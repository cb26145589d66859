# What the one who starts the interpreter decides: separators, signals that are ignored, how input is counted.
require "rbconfig"
RUBY = RbConfig.ruby

def run(*args, input: "one\ntwo\nthree\n", **options)
  IO.popen([RUBY, *args, { err: %i[child out] }.merge(options)], "r+") do |io|
    io.write input
    io.close_write
    io.read
  end
end

puts run("-0777", "-ne", "p $_"), run("-0400", "-e", "p $/", input: ""), run("-0", "-e", "p $/.bytes, $/.frozen?", input: "")
puts run("-ne", "p [$., $<.lineno, ARGF.lineno, ARGF.file.lineno]")
puts run("-T", "-e", "1", input: "")[/invalid option -T/]
puts run("-x", input: "no line of ruby's\n"), run("-x", "/dev/null", input: "")

%w[HUP INT TERM USR1].each do |name|
  # Whoever had the signal ignored finds it so; the program may say something else.
  ignored = "trap '' #{name}; exec #{RUBY} -e 'Process.kill(:#{name}, $$); sleep 0.2; p trap(:#{name}) { puts :trapped }; Process.kill(:#{name}, $$); sleep 0.05'"
  puts IO.popen(["sh", "-c", ignored], &:read)
  default = "trap '' #{name}; exec #{RUBY} -e 'p trap(:#{name}, :DEFAULT); begin; Process.kill(:#{name}, $$); sleep 1; rescue SignalException; p $!.class; end'"
  puts IO.popen(["sh", "-c", default], &:read)
end
