# Who may call foreign code: the table of docs/life.md, a line for each cell. Then what ends a VM that does, and what it leaves to others.
require "etc"
require "ffi"
require "fiddle"

module C
  extend FFI::Library
  ffi_lib FFI::Library::LIBC
  attach_function :getpid, [], :int
  attach_function :usleep, [:uint], :int
  attach_function :wait, :usleep, [:uint], :int, blocking: true
  attach_function :qsort, [:pointer, :size_t, :size_t, callback([:pointer, :pointer], :int)], :void
end

PLACE = FFI::MemoryPointer.new(4)
# Each way to foreign code or to memory.
WAYS = {
  "open a library" => -> { Fiddle.dlopen(nil) },
  "open one, ffi" => -> { FFI::DynamicLibrary.open("libc.so.6", 1) },
  "find a name" => -> { Fiddle::Handle.sym("getpid") },
  "call" => -> { C.getpid },
  "call, Fiddle" => -> { Fiddle::Function.new(1 << 20, [], 0).call },
  "allocate" => -> { FFI::MemoryPointer.new(4) },
  "allocate, Fiddle" => -> { Fiddle.malloc(4) },
  "read" => -> { PLACE.read_char },
  "read, Fiddle" => -> { Fiddle::Pointer.new(PLACE.address)[0] },
  "write" => -> { PLACE.write_char(1) },
  "point at a String" => -> { Fiddle::Pointer["text"] },
  "free" => -> { Fiddle.free(1 << 20) },
  "be called" => -> { FFI::Function.new(:void, []) {} },
  "be called, Fiddle" => -> { Fiddle::Closure::BlockCaller.new(0, []) {} }
}

def may?(name)
  WAYS[name].call
  true
rescue SecurityError
  false
end

def table = WAYS.keys.reject { |name| %w[free].include?(name) || name == "call, Fiddle" }.map { |name| may?(name) }.uniq
def refusals = WAYS.keys.select { |name| may?(name) }

puts "main: #{table}"
puts "fork: #{RubyVM.fork { refusals }.value}"
puts "fork, foreign: true: #{RubyVM.fork(foreign: true) { table }.value}"
puts "fork, foreign: false: #{RubyVM.fork(foreign: false) { refusals }.value}"
puts "fork of a fork, foreign: true: #{RubyVM.fork { RubyVM.fork(foreign: true) { refusals }.value }.value}"
puts "fork of one that may, foreign: true: #{RubyVM.fork(foreign: true) { RubyVM.fork(foreign: true) { table }.value }.value}"
puts "fork of one that may: #{RubyVM.fork(foreign: true) { RubyVM.fork { refusals }.value }.value}"
new = ->(**options) do
  out = RubyVM::Channel.new
  code = 'require "fiddle"; require "ffi"; RubyVM::ARGV[0] << (begin; Fiddle.malloc(4).class; rescue SecurityError; $!.class; end).name'
  RubyVM.new("new", "-e", code, **options).start(out).join
  out.recv
end
puts "new: #{new.()}", "new, foreign: true: #{new.(foreign: true)}"
image = RubyVM::Image.capture
puts "image: #{image.spawn { refusals }.value}", "image, foreign: true: #{image.spawn(foreign: true) { table }.value}"
$VERBOSE = nil
puts "Ractor: #{Ractor.new { table }.value}", "Ractor, limited: #{Ractor.new(memory_limit: 64 << 20) { refusals }.value}", "Ractor, foreign: false: #{Ractor.new(foreign: false) { refusals }.value}"
puts "Ractor of a fork: #{RubyVM.fork { Ractor.new { refusals }.value }.value}"

# What comes from one that may is of no use to one that may not.
puts "a pointer from outside: #{RubyVM.fork(FFI::Pointer.new(1 << 20)) { |pointer| begin; pointer.read_int; rescue SecurityError; $!.class; end }.value}"
KEPT = FFI::MemoryPointer.from_string("kept")
puts "one in a constant: #{RubyVM.fork { begin; KEPT.read_string; rescue SecurityError; $!.class; end }.value}"
copy = RubyVM.fork(foreign: true) { KEPT.put_string(0, "mine"); KEPT.read_string }.value
puts "a copy of memory: #{copy} #{KEPT.read_string}"

# Ends
def ended(**limits, &block)
  vm = RubyVM.fork(foreign: true, **limits, &block)
  sleep 0.05
  started = Time.now
  vm.kill(grace: 0) if limits.empty?
  message = (vm.join.status rescue $!.message)
  "#{message.sub(/of .* s/, "of ... s")} #{Time.now - started < 2 ? "soon" : "late"}"
end
puts "killed in a callback: #{ended { C.qsort(FFI::MemoryPointer.new(:int, 9), 9, 4) { loop {} } }}"
puts "killed in a callback that waits: #{ended { C.qsort(FFI::MemoryPointer.new(:int, 9), 9, 4) { sleep } }}"
puts "killed in a call that waits: #{ended { C.wait(999_999) }}"
puts "killed in a call: #{ended { C.usleep(300_000) while true }}"
puts "limit in a callback: #{ended(wall_limit: 0.1) { C.qsort(FFI::MemoryPointer.new(:int, 9), 9, 4) { loop {} } }}"
puts "memory: #{RubyVM.fork(foreign: true, memory_limit: 16 << 20) { kept = []; (loop { kept << FFI::MemoryPointer.new(1 << 20) } rescue 0; kept.size) rescue $!.class }.join.then { "limited" } rescue $!.message}"

# Neighbours go on beside calls that hold their VMs, though there are as many as workers.
stuck = Array.new(Etc.nprocessors) { RubyVM.fork(foreign: true) { C.usleep(2_000_000) } }
RubyVM.fork { 20.times { sleep 0.001 } }.join
puts "neighbours: #{stuck.none?(&:report) ? "go on" : "wait"}"
stuck.each { |vm| vm.kill(grace: 0) }
# Needs the standard library.
