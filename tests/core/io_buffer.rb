# IO::Buffer: memory of its own, Strings, slices, files; what of them can be changed when.
require "tmpdir"

def try
  yield
rescue => e
  [e.class, e.message]
end

b = IO::Buffer.new(16)
p b.size, b.internal?, b.readonly?, b.set_string("hello", 2), b.get_string(0, 8)
p b.set_values([:U8, :s16, :F32], 0, [255, -2, 1.5]), b.get_values([:U8, :s16, :F32], 0)
p b.get_value(:u64, 0), b.get_value(:S64, 0), b.get_value(:U32, 3)
p try { b.get_value(:U64, 9) }, try { b.get_value(:u8, 0) }, try { b.set_value(:U8, 0, 2**40) }
p b.each(:U16, 0, 2).to_a, b.values(:S8, 0, 3), b.each_byte(0, 2).to_a
p b.clear(7, 14).get_string(12), b <=> IO::Buffer.new(16), b <=> IO::Buffer.new(2), b == b.dup
p IO::Buffer.size_of([:U8, :f64]), try { IO::Buffer.size_of(:x) }

# Slices see the same bytes until their source goes.
part = b.slice(2, 4)
part.set_string("part")
p b.get_string(0, 8)[2, 4], part.valid?, part.slice(1, 2).get_string
p try { b.slice(10, 10) }, try { b.slice(-1, 2) }
moved = b.transfer
p b.null?, part.valid?, try { part.get_string }, moved.get_string(2, 4)
p moved.resize(4).get_string, moved.resize(6).get_string, try { moved.locked { moved.resize(1) } }
p moved.free.null?, try { moved.get_value(:U8, 0) }

# Strings: copied, or locked while the block runs.
text = +"some text"
fixed = IO::Buffer.for(text)
text << "!"
p fixed.get_string, fixed.readonly?, try { fixed.set_string("x") }
kept = nil
p IO::Buffer.for(text) { |buffer|
  kept = buffer.slice(0, 4)
  buffer.set_string("SOME")
  [text, try { text << "more" }, try { text.clear }, text.frozen?, text.dup << "?", buffer.size]
}
text << " more"
p text, kept.get_string, kept.valid?
text.replace("x")
p kept.valid?, try { kept.get_string }
p IO::Buffer.for("frozen".freeze) { |buffer| [buffer.readonly?, try { buffer.clear }] }
p IO::Buffer.string(4) { |buffer| buffer.set_value(:U16, 1, 0x4142) }
a, m = IO::Buffer.for("\x0F\xF0abc"), IO::Buffer.for("\xFF\x00".b)
p (a & m).get_string, (a | m).get_string, (a ^ m).get_string, (~a).get_string
p IO::Buffer.string(5) { |x| x.copy(a).then { x.xor!(m) } }, try { a & IO::Buffer.new(0) }
x = IO::Buffer.new(4)
p try { x.and!(x.slice(1, 2)) }

# Streams and files.
r, w = IO.pipe
p IO::Buffer.for("through a pipe").write(w), w.close
into = IO::Buffer.new(32)
p into.read(r, 7), into.read(r, 0, 7), into.get_string(0, 14), into.read(r, 1)
Dir.mktmpdir do |dir|
  path = File.join(dir, "file")
  File.write(path, "0123456789")
  File.open(path, "r+") do |file|
    map = IO::Buffer.map(file)
    p map.size, map.shared?, map.get_string(2, 3), map.set_string("ab", 4), File.read(path)
    File.write(path, "XYZ", 0)
    p map.slice(0, 5).get_string
    file.truncate(4)
    p map.get_string
    p into.pread(file, 1, 2), into.get_string(0, 2), IO::Buffer.for("__").pwrite(file, 1), File.read(path)
  end
  File.open(path) do |file|
    p try { IO::Buffer.map(file) }.first, IO::Buffer.map(file, nil, 0, IO::Buffer::READONLY).readonly?
    own = IO::Buffer.map(file, nil, 0, IO::Buffer::PRIVATE)
    own.set_string("own")
    p own.get_string, File.read(path), try { IO::Buffer.map(file, 100) }
  end
end

# In another VM: a fork has its own bytes.
shared = IO::Buffer.new(4)
shared.set_string("mine")
$buffer, $view = shared, shared.slice(1, 2)
vm = RubyVM.fork do
  before = [$buffer.get_string, $view.get_string, $view.valid?]
  $buffer.set_string("fork")
  puts "#{before} #{$view.get_string}"
end
vm.join
p shared.get_string, $view.get_string
# Needs the standard library.
# Numbers of all types, at the ends of buffers, slices and buffers of memory of their own.
types = %i[U8 S8 u16 U16 s16 S16 u32 U32 s32 S32 u64 U64 s64 S64 f32 F32 f64 F64]
bytes = IO::Buffer.for((0..47).map { |i| (i * 37 + 200) % 256 }.pack("C*"))
own = IO::Buffer.new(48).tap { |b| b.copy(bytes) }
[bytes, own, bytes.slice(3, 40), own.slice(5)].each do |b|
  p types.map { |t| b.get_value(t, 1) }, b.get_values(types.first(9), 2), b.get_values([], 0)
  p [-1, b.size - 1, b.size, 2**62].map { |at| [b.get_value(:U8, at), (b.get_value(:U16, at) rescue $!.message)] rescue $!.message }
  p (b.get_values(%i[U64] * 6, 0) rescue $!.message), (b.get_values([:U8, :X9], 0) rescue $!.message), (b.get_values(:U8, 0) rescue $!.message)
end
own.free
p (own.get_value(:U8, 0) rescue $!.message), (own.get_values([], 0) rescue $!.message), (own.get_values([:U8], 0) rescue $!.message)
