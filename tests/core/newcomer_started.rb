# What a newcomer meets at the command line: traces of the program itself, `-d`, errors at the end, the process's title.
require "rbconfig"
RUBY = RbConfig.ruby

def run(*args, input: "")
  out = IO.popen([RUBY, "--disable=gems", *args, { err: %i[child out] }], "r+b") do |io|
    io.write input
    io.close_write
    io.read
  end
  puts out.gsub(/0x\h+/, "0x"), "(status #{$?.exitstatus})"
end

def with_file(name, text)
  File.write(name, text)
  yield name
ensure
  File.delete(name)
end

puts "-- the main program is seen when it is compiled"
tracer = "/tmp/zakuro_tracer_#{$$}.rb"
with_file(tracer, <<~'RUBY_END') do
  $stdout.sync = true
  TracePoint.new(:script_compiled) { |t|
    i = t.instruction_sequence
    p [t.path, t.lineno, t.eval_script, i.path, i.label, i.first_lineno, i.script_lines, t.method_id, t.callee_id, t.self.inspect, t.binding.class]
  }.enable
RUBY_END
  run("-r#{tracer}", "-e", "p 1\neval '2'", "-e", "instance_eval('3', 'file', 9)")
  run("-r#{tracer}", input: "p 1\n")
end

puts "-- -d"
run("-d", "-e", <<~'RUBY_END')
  $stdout.sync = true
  begin; raise "x"; rescue; end
  begin; [].fetch(9); rescue IndexError; end
  begin; raise ArgumentError; rescue => e; end
  begin; raise e; rescue ArgumentError; end
  begin; begin; raise "once"; ensure; p 1; end; rescue; end
  begin; exit; rescue SystemExit; end
  catch(:a) { throw :a }
  class Other < StandardError; def message = "not asked"; def to_s = "text"; end
  begin; raise Other; rescue Other; end
  $DEBUG = false
  begin; raise "quiet"; rescue; end
  $DEBUG = true
  Thread.report_on_exception = false
  begin; Thread.new { raise "in a thread" }; sleep; rescue => e; p e; end
RUBY_END

puts "-- what at_exit blocks raise"
run("-e", 'at_exit { raise "b" }; raise "a"')
run("-e", <<~'RUBY_END')
  $stdout.sync = true
  at_exit { begin; raise "b"; rescue => e; p e.cause; end }
  at_exit { begin; raise "x"; rescue; raise "y"; end }
  at_exit { raise "z" }
  at_exit { p $! }
  raise "a"
RUBY_END
run("-e", 'at_exit { raise "z" }; at_exit { raise "y" }')
run("-e", '$stdout.sync = true; at_exit { p $! }; at_exit { raise "z" }; at_exit { exit 4 }; exit 3')
run("-e", 'at_exit { exit 4 }; raise "a"')
run("-e", 'at_exit { at_exit { raise "in" }; raise "out" }; begin; raise "q"; rescue; raise "a"; end')
run("--disable=error_highlight", "-e", 'at_exit { throw :x }; at_exit { raise Interrupt }')

puts "-- no place to name, bytes as they are"
run("-e", "e = RuntimeError.new('n'); def e.backtrace() = nil\nraise e")
run("-rno_such_file", "-e", "1")
p IO.popen([RUBY, "--disable=gems", "-e", 'raise "\xff\xfe"', err: %i[child out]], "rb", &:read)

puts "-- the title"
run("-e", '$0 = "a title"; puts File.read("/proc/self/cmdline").delete("\0"), $0', "argument")
run("-e", 'Process.setproctitle("another"); puts File.read("/proc/self/cmdline").delete("\0"), $0', "argument")
run("-e", '$0 = "a\0b"')
