# Fiddle over natives of ours: handles, functions, pointers, closures, structures, the importer.
require "fiddle"
require "fiddle/import"

def refused
  yield
rescue StandardError, SecurityError, NotImplementedError => e
  "#{e.class}: #{e.message}"
end

libc = Fiddle.dlopen("libc.so.6")
libm = Fiddle.dlopen("libm.so.6")
p File.basename(libc.file_name), libc.sym_defined?("no_such_function"), libc["strlen"].class
puts refused { libc["no_such_function"] }
puts refused { Fiddle.dlopen("no-such-library.so") }.sub(/:.*:/, ": ...:")
puts refused { libc["a\0b"] }
closed = Fiddle.dlopen("libc.so.6")
p closed.close
puts refused { closed.close }, refused { closed["strlen"] }

pow = Fiddle::Function.new(libm["pow"], [Fiddle::TYPE_DOUBLE] * 2, Fiddle::TYPE_DOUBLE)
p pow.call(2, 10), pow.to_proc.(3.0, 2), pow.need_gvl?
puts refused { pow.call(1) }, refused { pow.call("x", 1) }
strlen = Fiddle::Function.new(libc["strlen"], [:voidp], :size_t, name: "strlen")
p strlen.call("hello"), strlen.name
puts refused { Fiddle::Function.new(libc["strlen"], [99], 0) }.to_s
snprintf = Fiddle::Function.new(libc["snprintf"], [:voidp, :size_t, :const_string, :variadic], :int)
Fiddle::Pointer.malloc(32, Fiddle::RUBY_FREE) do |buffer|
  p snprintf.call(buffer, 32, "%d-%s-%.1f", :int, 5, :const_string, "x", :double, 1.25), buffer.to_s
end
close = Fiddle::Function.new(libc["close"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT)
p close.call(-1), Fiddle.last_error == Errno::EBADF::Errno

# Pointers
pointer = Fiddle::Pointer.malloc(16, Fiddle::RUBY_FREE)
pointer[0, 5] = "hello"
p pointer.to_s, pointer[1], pointer[1, 3], (pointer + 2).to_s, (pointer + 2).size, pointer.null?, pointer.freed?
pointer[0] = 74
p pointer.to_s, pointer == Fiddle::Pointer.new(pointer.to_i), pointer.ref.ptr == pointer
pointer.call_free
p pointer.freed?
text = +"shared"
Fiddle::Pointer[text][0] = "S".ord
p text, Fiddle::NULL.null?
puts refused { Fiddle::NULL[0] }
address = Fiddle.malloc(8)
Fiddle::Pointer.write(address, "12345678")
p Fiddle::Pointer.read(Fiddle.realloc(address, 64).then { |a| address = a }, 8)
Fiddle.free(address)
object = Object.new
p Fiddle.dlunwrap(Fiddle.dlwrap(object)).equal?(object), Fiddle.dlunwrap(Fiddle.dlwrap(nil))

# Closures
sorted = [3, 1, 2].pack("l*")
order = Fiddle::Closure::BlockCaller.new(:int, [:voidp, :voidp]) { |a, b| a[0, 4].unpack1("l") <=> b[0, 4].unpack1("l") }
qsort = Fiddle::Function.new(libc["qsort"], [:voidp, :size_t, :size_t, :voidp], :void)
qsort.call(sorted, 3, 4, order)
p sorted.unpack("l*")
failing = Fiddle::Closure::BlockCaller.new(:int, [:voidp, :voidp]) { raise "stop" }
puts refused { qsort.call(sorted, 3, 4, failing) }
p order.free, order.freed?
puts refused { order.to_i }.sub(/#<.*/, "...")
echo = Fiddle::Closure::BlockCaller.new(:double, [:float, :uchar, :long_long, :bool]) { |*all| p all; 0.5 }
p Fiddle::Function.new(echo, [:float, :uchar, :long_long, :bool], :double).call(1.5, 200, -1 << 40, true)

# The importer
module C
  extend Fiddle::Importer
  dlload "libc.so.6"
  extern "int strcmp(const char *, char*)"
  extern "char *strcpy(char*, char*)"
  extern "unsigned long strtoul(const char *, char **, int)"
  Point = struct ["int x", "double y", "char name[4]", { "inner" => struct(["short a", "short b"]) }]
  Value = union ["int i", "char c[4]"]
end
p C.strcmp("a", "b") < 0, C.strcpy(copy = +"....", "abc").to_s, copy, C.strtoul("77", nil, 8)
point = C::Point.malloc(Fiddle::RUBY_FREE)
point.x, point.y, point.name, point.inner.b = 1, 2.5, "ab".bytes + [0, 0], 7
p C::Point.size, point.x, point.y, point.name, point.inner.b
value = C::Value.malloc(Fiddle::RUBY_FREE)
value.i = 0x41424344
p value.c.pack("c*").reverse

# Others run while a function waits, and it can be left.
sleep_ = Fiddle::Function.new(libc["usleep"], [:int], :int)
ticks = 0
ticker = Thread.new { loop { ticks += 1; sleep 0.001 } }
sleep_.call(100_000)
p ticks > 5
ticker.kill
waiting = Thread.new { sleep_.call(999_999) }
sleep 0.02
waiting.kill
p waiting.join(0.5) == waiting
