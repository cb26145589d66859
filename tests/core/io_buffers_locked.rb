# While a thread waits to read into a String, nobody else may change that.
def waiting(call)
  IO.pipe do |r, w|
    text = " " * 5
    t = Thread.new { r.public_send(call, 5, text) }
    Thread.pass until t.stop?
    begin
      text.clear
    rescue RuntimeError => e
      p [call, e.class, e.message]
    end
    w << "foobar"
    w.close
    p t.value, text
    text.clear
  end
end
waiting(:read)
waiting(:readpartial)
waiting(:sysread)
IO.pipe do |r, w|
  r.timeout = 0.5
  copy = r.dup
  p copy.timeout
  copy.close
end
require "tmpdir"
require "stringio"
require "pathname"
Dir.mktmpdir do |d|
  path = File.join(d, "a")
  begin
    File.write(path, "x", -2)
  rescue SystemCallError => e
    p e.class
  end
  File.write(path, "ok")
  IO.copy_stream(Pathname.new(path), Pathname.new(path + "2"))
  p File.read(path + "2")
  begin
    IO.copy_stream(StringIO.new("abc"), path, 2, 1)
  rescue ArgumentError => e
    p e.message
  end
  Dir.chdir(d) do
    $stderr = $stdout
    at = __LINE__ - 2
    Dir.chdir(d)
    Thread.new { p((Dir.chdir(d) rescue $!.message)) }.join
    Thread.new { p((Dir.chdir(d) {} rescue $!.message)) }.join
    p at
  end
end
p Dir.allocate.path, Dir.home("") == Dir.home, (File.fnmatch("a\0z", "a") rescue $!.class)
r = Random.new(0).freeze
p((r.send(:initialize, r) rescue $!.class), (r.send(:marshal_load, [1, 1, 1]) rescue $!.class))
p((Marshal.load("\x04\bU:\vRandom" + Marshal.dump([1, 0, 1])[2..]) rescue $!.class))
p [0, 1 << 32, (1 << 32) + 1, (1 << 64) + 5, -(1 << 32)].map { |s| Random.new(s).rand(1 << 32) }
p Struct.new(:a).instance_method(:a=).parameters, RubyVM::InstructionSequence.compile_parsey("1 + 2").eval
p Ruby::Box.enabled?, Ruby::Box.current, Ruby::Box.superclass, (Ruby::Box.new rescue $!.class)
p RubyVM::InstructionSequence.compile("1").to_a[4][:parser]
[1, :a, 1.5].each { |v| p((v.extend(Module.new) rescue [$!.class, $!.message])) }
p RubyVM::InstructionSequence.compile("'a'", nil, nil, 1, {frozen_string_literal: true}).eval.frozen?
p((RubyVM::InstructionSequence.compile("", debug_level: "") rescue $!.class))
def star(*) = 1
def keys(**) = 1
def blk(&) = 1
p %i[star keys blk].map { |m| a = RubyVM::InstructionSequence.of(method(m)).to_a; a[a.index(:method) + 1] }
`true`
s = Marshal.load(Marshal.dump($?))
p s == $?, s.pid == $?.pid, s.success?
`exit 3`
s = Marshal.load(Marshal.dump($?))
p s.exitstatus, s.class
p 1.step(10, nil).size, 1.step(10, nil).first(2), ((1.step(10, nil) { }) rescue $!.class)
odd = Class.new(Numeric) { def coerce(x) = nil }.new
p((-odd rescue $!.class), (odd.quo(1) rescue $!.class))
g = ThreadGroup.new
t = Thread.new { }.join
Thread.new do
  g.add(Thread.current)
  g.enclose
  p((g.add(t) rescue $!.message), Thread.new { 1 }.value)
  g.freeze
  p((Thread.new { 1 } rescue $!.message), (g.add(t) rescue $!.message))
end.join
p((SignalException.new("-SIGEXIT") rescue $!.message))
o = Object.new
def o.respond_to?(a, b, c) = true
p(([o].flatten rescue $!.message))
def o.respond_to?(name) = (p name; false)
p defined?(o.foo), [o].flatten.size
