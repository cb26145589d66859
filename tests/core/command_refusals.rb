# What the command refuses or warns of, and what it leaves out when nothing is to run.
require "open3"
require "tmpdir"
RUBY = RbConfig.ruby

def run(*args, input: "")
  out, err, status = Open3.capture3({ "RUBYOPT" => nil }, RUBY, *args, stdin_data: input)
  puts "#{args.inspect}: #{out.inspect} #{err.inspect} #{status.success?}"
end

run("-\r", "-e", "p 1")
run("-\rx")
run("-\x01")
run("-Z")
run("--backtrace-limit")
run("--backtrace-limit=")
run("--backtrace-limit=x")
run("-wKe", "-e", "p __ENCODING__")
run("-Ke", "-e", "p __ENCODING__")
run("-", "-#", input: "#!ruby -s\n")
run("-", "-a_b=1", "-c-d", input: "#!ruby -s\np $a_b, $c_d\n")
run("-", input: "#!")
run("--disable=gems", "-e", "p defined?(DidYouMean), defined?(ErrorHighlight), defined?(Gem)")
run("--disable=gems", "-e", "value = 1; valu")
begin
  Process.setproctitle("a\0b")
rescue ArgumentError => error
  puts error.message
end
Dir.mktmpdir do |dir|
  File.write("#{dir}/told.rb", "puts :required")
  out, = Open3.capture2(RUBY, "-I", dir, "-r", "told", "-c", "-e", "p 1")
  p out
  out, = Open3.capture2(RUBY, "-I", dir, "-r", "told", "-e", "p 1")
  p out
end
