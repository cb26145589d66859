# What a VM that runs a program leaves: its value, or what ended it, with its backtrace, for each who waits.
def tell(vm)
  2.times do
    p vm.join.equal?(vm)
  rescue RubyVM::Error => e
    p e.message, e.cause, e.cause&.backtrace
  end
end
p RubyVM.new("value", "-e", "x = 6\nx * 7").start.value
p RubyVM.new("nil", "-e", "").start.value, RubyVM.new("exit", "-e", "exit 2; 5").start.value
v = RubyVM.new("twice", "-e", "[1, 'a', {b: 2.5}]").start
p v.value, v.value.equal?(v.value), v.join.equal?(v), v.status
p RubyVM.new("at_exit", "-e", "at_exit { 1 / 1 }; :last").start.value
v = RubyVM.new("proc", "-e", "x = 1; -> { x }").start
p v.join.equal?(v), v.status, v.value.call
v = RubyVM.new("unknown", "-e", "class Mine; end; Mine.new").start
p v.join.equal?(v), (v.value rescue [$!.class, $!.message])
tell RubyVM.new("raises", "-e", "$stderr = File.open(File::NULL, 'w')\ndef f = raise(ArgumentError, 'boom')\nf\n").start
tell RubyVM.new("causes", "-e", "$stderr = File.open(File::NULL, 'w')\nbegin; Integer('x'); rescue; raise 'outer'; end").start
begin
  RubyVM.new("chain", "-e", "$stderr = File.open(File::NULL, 'w')\nbegin; Integer('x'); rescue; raise 'outer'; end").start.value
rescue => e
  p e.cause, e.cause.cause, e.cause.cause.backtrace
end
# A class that only the program has.
tell RubyVM.new("own class", "-e", "$stderr = File.open(File::NULL, 'w')\nclass Mine < StandardError; end\n\ndef g = raise(Mine, 'mine')\ng").start
tell RubyVM.new("can't travel", "-e", "$stderr = File.open(File::NULL, 'w')\nclass ArgumentError; attr_accessor :io; end\nraise ArgumentError.new('holds a thread').tap { |e| e.io = Thread.current }").start
tell RubyVM.new("syntax", "-e", "$stderr = File.open(File::NULL, 'w'); eval '1 +'").start.tap { _1.join rescue 0 }
tell RubyVM.fork(name: "fork") { raise KeyError, "x" }
tell RubyVM.new("signal", "-e", "Process.kill(:KILL, $$); sleep").start
p (RubyVM.new("block", "-e", "1") { 2 } rescue [$!.class, $!.message])
p RubyVM.new("limited", "-e", "'x' * 1000", memory_limit: 8 << 20).start.value.size
