# The gem ffi over natives of ours: functions, types, structures, callbacks. Prints what is not as it should be, and how much was looked at.
require "ffi"
require "timeout"
require "tmpdir"

$checks = 0
def check(what, got, wanted)
  $checks += 1
  puts "#{what}: #{got.inspect}, not #{wanted.inspect}" unless wanted === got || wanted == got
end

def refused(*classes)
  yield
  nil
rescue *classes => e
  e.class
end

module C
  extend FFI::Library
  ffi_lib FFI::Library::LIBC, "libm.so.6"
  attach_function :strlen, [:string], :size_t
  attach_function :pow, [:double, :double], :double
  attach_function :abs, [:int], :int
  attach_function :length, :strlen, [:pointer], :size_t
  attach_function :memset, [:pointer, :int, :size_t], :pointer
  attach_function :strcpy, [:pointer, :string], :pointer
  attach_function :strtol, [:string, :pointer, :int], :long
  attach_function :close, [:int], :int
  attach_function :snprintf, [:pointer, :size_t, :string, :varargs], :int
  attach_function :getenv, [:string], :string
  attach_function :toupper, [:char], :char
  callback :compare, [:pointer, :pointer], :int
  attach_function :qsort, [:pointer, :size_t, :size_t, :compare], :void
  attach_function :waiting_sort, :qsort, [:pointer, :size_t, :size_t, :compare], :void, blocking: true
  attach_function :usleep, [:uint], :int
  attach_function :wait, :usleep, [:uint], :int, blocking: true
  attach_function :labs, [:long], :long
  Level = enum :level, [:low, 1, :high, 10, :highest]
  attach_function :level, :abs, [:level], :level
  attach_variable :environ, :pointer
end

# Values
check "strlen", C.strlen("hello"), 5
check "pow", C.pow(2, 10), 1024.0
check "abs", C.abs(-3), 3
check "too large", refused(RangeError) { C.abs(1 << 31) }, RangeError
check "nil for a number", refused(TypeError) { C.abs(nil) }, TypeError
check "NUL", refused(ArgumentError) { C.strlen("a\0b") }, ArgumentError
check "count", refused(ArgumentError) { C.abs }, ArgumentError
check "no pointer", refused(ArgumentError) { C.memset(Object.new, 0, 0) }, ArgumentError
check "missing", refused(FFI::NotFoundError) { C.attach_function :no_such_function, [], :void }, FFI::NotFoundError
check "no library", refused(LoadError) { Module.new { extend FFI::Library; ffi_lib "no-such-library" } }, LoadError
check "nothing there", C.getenv("NO_SUCH_VARIABLE"), nil
check "enum in and out", [C.level(:high), C.level(-1), C.level(-11), C.level(5)], [:high, :low, :highest, 5]
check "no enum value", refused(ArgumentError) { C.level(:none) }, ArgumentError
check "variable", C.environ.null?, false
C.close(-1)
check "errno", FFI.errno, Errno::EBADF::Errno
FFI.errno = 5
check "errno of a thread of its own", [FFI.errno, Thread.new { FFI.errno }.value], [5, 0]
buffer = FFI::MemoryPointer.new(100)
C.snprintf(buffer, 100, "%d %s %.2f %ld %c", :int, 42, :string, "x", :float, 1.5, :long, -7, :char, 65)
check "variadic", buffer.read_string, "42 x 1.50 -7 A"
text = +"....."
C.strcpy(text, "abc")
check "written into a String", text, "abc\0."
finish = FFI::MemoryPointer.new(:pointer)
check "strtol", C.strtol("12rest", finish, 10), 12
check "a pointer out", finish.read_pointer.read_string, "rest"

# Memory
memory = FFI::MemoryPointer.new(:int32, 4)
memory.write_array_of_int32([1, -2, 3, 4])
check "array", [memory.read_array_of_int32(4), memory[1].read_int32, (memory + 8).size, memory.size], [[1, -2, 3, 4], -2, 8, 16]
check "bounds", refused(IndexError) { memory.get_int32(13) }, IndexError
check "before", refused(IndexError) { memory.get_int32(-1) }, IndexError
check "far", refused(IndexError) { memory.get_bytes(8, 1 << 62) }, IndexError
check "NULL", refused(FFI::NullPointerError) { FFI::Pointer::NULL.read_int }, FFI::NullPointerError
check "kinds", { int8: -128, uint8: 255, int16: -32768, uint16: 65535, int64: -1 << 63, uint64: (1 << 64) - 1, float: 1.5, double: 0.1, long_double: 0.1, bool: true }
  .map { |kind, value| memory.send("put_#{kind}", 0, value).send("get_#{kind}", 0) == value }, [true] * 10
check "order", memory.put_int32(0, 0x01020304).order(:big).get_int32(0), 0x04030201
check "frozen", refused(RuntimeError) { FFI::MemoryPointer.new(4).freeze.put_int32(0, 1) }, RuntimeError
check "too much", refused(NoMemoryError) { FFI::MemoryPointer.new(1, 1 << 45) }, NoMemoryError
check "negative", refused(NoMemoryError, ArgumentError) { FFI::MemoryPointer.new(1, -1) }, Class
strings = ["one", "two"].map { |s| FFI::MemoryPointer.from_string(s) }
list = FFI::MemoryPointer.new(:pointer, 3).write_array_of_pointer(strings + [nil])
check "strings", list.read_array_of_string, %w[one two]
check "copies", memory.dup.read_array_of_int32(4) == memory.read_array_of_int32(4), true
released = []
class Handle < FFI::AutoPointer
  def self.release(pointer) = $released << pointer.address
end
$released = []
Handle.new(FFI::Pointer.new(0x1234)).free
check "AutoPointer", $released, [0x1234]

# Structures
class Time2 < FFI::Struct
  layout :seconds, :long, :micros, :int, :name, [:char, 6], :level, C::Level
end
time = Time2.new
time[:seconds], time[:name], time[:level] = -5, "hello", :high
check "structure", [Time2.size, Time2.offset_of(:name), time[:seconds], time[:name].to_s, time[:level], time.values.size], [24, 12, -5, "hello", :high, 4]
check "too long", refused(IndexError) { time[:name] = "much too long" }, IndexError
check "no field", refused(ArgumentError) { time[:none] }, ArgumentError
check "a copy", (time.dup[:seconds] = 1; time[:seconds]), -5
class Either < FFI::Union
  layout :number, :uint32, :bytes, [:uint8, 4]
end
either = Either.new
either[:number] = 0x01020304
check "union", [Either.size, either[:bytes].to_a.sort], [4, [1, 2, 3, 4]]
class Packed < FFI::Struct
  packed
  layout :a, :char, :b, :int
end
check "packed", Packed.size, 5

# Callbacks
numbers = FFI::MemoryPointer.new(:int, 50)
order = ->(a, b) { a.read_int <=> b.read_int }
fill = ->(m) { m.write_array_of_int((0...50).to_a.shuffle) }
[:qsort, :waiting_sort].each do |sort|
  fill.(numbers)
  C.send(sort, numbers, 50, 4, order)
  check sort, numbers.read_array_of_int(50), (0...50).to_a
  # Each switches threads and calls foreign functions in the middle of its own.
  threads = Array.new(5) do
    Thread.new do
      own = FFI::MemoryPointer.new(:int, 50)
      fill.(own)
      C.send(sort, own, 50, 4) { |a, b| Thread.pass; C.abs(-1); order.(a, b) }
      own.read_array_of_int(50)
    end
  end
  check "#{sort} in threads", threads.map(&:value).uniq, [(0...50).to_a]
  check "#{sort} with an exception", (C.send(sort, numbers, 50, 4) { raise IOError, "stop" } rescue $!.message), "stop"
  check "#{sort} with a throw", catch(:found) { C.send(sort, numbers, 50, 4) { throw :found, 7 } }, 7
end
def leaves(numbers) = C.qsort(numbers, 50, 4) { return 5 }
check "return out of a callback", leaves(numbers), 5
calls = 0
C.qsort(numbers, 50, 4) { calls += 1; raise "no" } rescue nil
check "no callback after an exception", calls, 1
reached = Queue.new
thread = Thread.new { C.qsort(numbers, 50, 4) { reached << 1; sleep } }
reached.pop
thread.kill
check "killed in a callback", thread.join(10) == thread, true
fiber = Fiber.new { C.qsort(numbers, 50, 4) { Fiber.yield 1 } }
check "a fiber that nobody resumes", fiber.resume, 1
fiber = nil
GC.start
deeper = ->(n) { n == 0 ? :bottom : (C.qsort(numbers, 2, 4) { $deepest = deeper.(n - 1); 0 }; $deepest) }
check "callbacks in callbacks", deeper.(20), :bottom
endless = proc { C.qsort(numbers, 2, 4, &endless) }
check "without an end", refused(SystemStackError) { endless.call }, SystemStackError
add = FFI::Function.new(:int, [:int, :int]) { |a, b| a + b }
check "a function of Ruby's, called", add.call(1, 2), 3

# Calls that wait let other threads run, and can be left.
ticks = 0
ticker = Thread.new { loop { ticks += 1; sleep 0.001 } }
C.wait(100_000)
check "others run", ticks > 5, true
ticker.kill
started = Time.now
check "left", (Timeout.timeout(0.05) { C.wait(999_999) } rescue $!.class), Timeout::Error
check "left at once", Time.now - started < 0.9, true

# With a C compiler: structures by value, and callbacks from threads that are not Ruby's.
source = <<~C
  #include <pthread.h>
  #include <stdlib.h>
  struct point { double x, y; };
  struct mixed { char a; float b; long c; short d[3]; };
  union value { float f; double d; };
  struct point middle(struct point a, struct point b) { struct point m = { (a.x + b.x) / 2, (a.y + b.y) / 2 }; return m; }
  struct mixed twice(struct mixed m) { m.a *= 2; m.b *= 2; m.c *= 2; m.d[2] *= 2; return m; }
  union value half(union value v) { v.d /= 2; return v; }
  long double longer(long double x) { return x * 2; }
  struct point apply(struct point (*f)(struct point), struct point p) { return f(p); }
  int small(signed char (*f)(unsigned char), unsigned char c) { return f(c); }
  static void *run(void *f) { ((void (*)(int)) f)(42); return 0; }
  void elsewhere(void (*f)(int)) { pthread_t t; pthread_create(&t, 0, run, f); pthread_join(t, 0); }
  int counter = 0;
C
Dir.mktmpdir do |dir|
  File.write("#{dir}/t.c", source)
  next unless system("cc", "-shared", "-fPIC", "-o", "#{dir}/t.so", "#{dir}/t.c", "-lpthread", out: File::NULL, err: File::NULL)
  class Point < FFI::Struct
    layout :x, :double, :y, :double
  end
  class Mixed < FFI::Struct
    layout :a, :char, :b, :float, :c, :long, :d, [:short, 3]
  end
  class Value < FFI::Union
    layout :f, :float, :d, :double
  end
  T = Module.new do
    extend FFI::Library
    ffi_lib "#{dir}/t.so"
    attach_function :middle, [Point.by_value, Point.by_value], Point.by_value
    attach_function :twice, [Mixed.by_value], Mixed.by_value
    attach_function :half, [Value.by_value], Value.by_value
    attach_function :longer, [:long_double], :long_double
    attach_function :apply, [callback([Point.by_value], Point.by_value), Point.by_value], Point.by_value
    attach_function :small, [callback([:uchar], :char), :uchar], :int
    attach_function :elsewhere, [callback([:int], :void)], :void, blocking: true
    attach_variable :counter, :int
  end
  point = ->(x, y) { Point.new.tap { |p| p[:x], p[:y] = x, y } }
  check "by value", T.middle(point.(1, 2), point.(3, 6)).values, [2.0, 4.0]
  mixed = Mixed.new
  mixed[:a], mixed[:b], mixed[:c], mixed[:d][2] = 1, 1.5, 1 << 40, 7
  mixed = T.twice(mixed)
  check "mixed", [mixed[:a], mixed[:b], mixed[:c], mixed[:d].to_a], [2, 3.0, 1 << 41, [0, 0, 14]]
  check "union by value", T.half(Value.new.tap { |v| v[:d] = 5.0 })[:d], 2.5
  check "long double", T.longer(1.25), 2.5
  check "by value in a callback", T.apply(->(p) { point.(p[:y], p[:x]) }, point.(1, 2)).values, [2.0, 1.0]
  check "small results", T.small(->(c) { -c }, 5), -5
  check "nil as a result", T.small(->(c) { nil }, 5), 0
  got = nil
  T.elsewhere { |n| got = [n, Thread.current == Thread.main] }
  check "from another thread", got, [42, false]
  T.counter = 3
  check "a variable", T.counter, 3
end
puts $checks >= 61 ? "checked" : "#{$checks} checks"

puts "-- calls that fibers take along which nobody resumes"
module Sorting
  extend FFI::Library
  ffi_lib FFI::Library::LIBC
  attach_function :qsort, [:pointer, :size_t, :size_t, callback([:pointer, :pointer], :int)], :void
end
numbers = FFI::MemoryPointer.new(:int, 3)
1500.times do |i|
  Fiber.new { Sorting.qsort(numbers, 3, 4, ->(*) { Fiber.yield; 0 }) }.resume
  GC.start if i % 200 == 199
end
calls = 0
Sorting.qsort(numbers, 3, 4, ->(*) { calls += 1; 0 })
p calls > 0
