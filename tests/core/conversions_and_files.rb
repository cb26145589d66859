# What IO.copy_stream and IO.try_convert take for a stream: what has a path is asked for the stream behind it, other objects read and write by themselves. Then how often arguments are converted.
require "tempfile"
require "tmpdir"

Dir.mktmpdir do |dir|
  from = File.join(dir, "from")
  File.write(from, "Line one\n\nLine three\n")
  Tempfile.create("to") do |plain|
    p IO.copy_stream(from, plain), File.read(plain.path)
  end
  to = Tempfile.new("to")
  to.write("prelude ")
  # All of it is in the file at once.
  p IO.copy_stream(from, to), File.read(to.path)
  p IO.copy_stream(from, to, 4, 5), File.read(to.path)
  to.rewind
  p IO.copy_stream(to, File.join(dir, "back")), File.read(File.join(dir, "back"))

  Named = Struct.new(:to_path)
  p IO.copy_stream(Named.new(from), Named.new(File.join(dir, "named"))), File.read(File.join(dir, "named"))
  class Both
    attr_reader :got

    def initialize(io) = @io = io
    def to_io = @io
    def write(text) = (@got = text.dup).bytesize
  end
  File.open(File.join(dir, "both"), "w") do |f|
    both = Both.new(f)
    p IO.copy_stream(from, both), both.got
  end
  p File.read(File.join(dir, "both"))
end

returns = ->(value) { Object.new.tap { |o| o.define_singleton_method(:to_io) { value } } }
p IO.try_convert(returns.(nil)), IO.try_convert(returns.($stdout)).equal?($stdout), IO.try_convert(1)
begin
  IO.try_convert(returns.("io"))
rescue TypeError => e
  puts e.message.sub(" into ", " to ") # 4.1 says it otherwise
end

pid = Object.new
def pid.to_int = :symbol
begin
  Process.detach(pid)
rescue TypeError => e
  puts e.message.sub(" into ", " to ") # 4.1 says it otherwise
end

# Conversions are asked for once.
class Once
  attr_reader :asked

  def to_str = (@asked = @asked.to_i + 1) && "x"
end
ENV["x"] = "y"
asked = [
  ->(o) { ENV.assoc(o) }, ->(o) { [1, o].join }, ->(o) { [o].join }, ->(o) { ["a", o, 1].join("-") }, ->(o) { ["a", 1, o] * "," }, ->(o) { "abc"[1] = o }, ->(o) { "abc"[0, 2] = o }, ->(o) { "abc"["b"] = o },
  ->(o) { "abc"[/(b)/, 1] = o }, ->(o) { ("abc"[/(b)/, 2] = o; nil) rescue $!.class }, ->(o) { ("abc"[9] = o; nil) rescue $!.class }
].map { |use| Once.new.tap(&use).asked }
p asked
