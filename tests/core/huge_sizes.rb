# Sizes that no machine has: each call raises what can be rescued, and the program goes on.
require "stringio"
require "json"
require "strscan"
require "bigdecimal"
require "zlib"

HUGE = 2**62
zero = File.open("/dev/zero")
calls = {
  "ljust" => -> { "a".ljust(HUGE) }, "rjust" => -> { "a".rjust(HUGE, "xy") }, "center" => -> { "a".center(HUGE) }, "String#*" => -> { "ab" * HUGE },
  "Array#*" => -> { [1, 2] * HUGE }, "Array.new" => -> { Array.new(HUGE) }, "Array.new block" => -> { Array.new(HUGE) { 1 } },
  "fill" => -> { [].fill(0, 0, HUGE) }, "insert" => -> { [].insert(HUGE, 1) }, "[]= far" => -> { a = []; a[HUGE] = 1 }, "[]= range" => -> { a = []; a[HUGE, 1] = [1] },
  "String#[]=" => -> { s = +"a"; s[HUGE] = "b" }, "setbyte" => -> { (+"a").setbyte(HUGE, 1) }, "insert into String" => -> { (+"a").insert(HUGE, "b") },
  "pack x" => -> { [].pack("x#{HUGE}") }, "pack @" => -> { [].pack("@#{HUGE}") }, "pack a" => -> { ["a"].pack("a#{HUGE}") }, "pack w" => -> { ["a"].pack("A#{2**50}") },
  "read" => -> { zero.read(2**50) }, "read huge" => -> { zero.read(HUGE) }, "Random.bytes" => -> { Random.bytes(2**50) }, "urandom" => -> { Random.urandom(2**50) },
  "Random#bytes" => -> { Random.new(1).bytes(2**61) }, "IO::Buffer" => -> { IO::Buffer.new(2**50, IO::Buffer::INTERNAL) }, "Integer#<<" => -> { 1 << HUGE }, "Integer#<< far" => -> { 1 << 2**50 },
  "**" => -> { raise ArgumentError if (2**HUGE) == Float::INFINITY }, "format width" => -> { format("%#{HUGE}d", 1) }, "format precision" => -> { format("%.#{HUGE}f", 1r / 3) },
  "format *" => -> { format("%*c", HUGE, 0x80) }, "strftime" => -> { Time.at(0).strftime("%#{HUGE}Y") },
  "StringIO#truncate" => -> { StringIO.new(+"").truncate(HUGE) }, "StringIO#write" => -> { s = StringIO.new(+""); s.pos = 2**63 - 1; s.write("x") },
  "StringIO#write far" => -> { s = StringIO.new(+""); s.pos = 2**50; s.write("x") }, "StringIO#ungetc" => -> { s = StringIO.new(+""); s.pos = 2**50; s.ungetc("x") },
  "StringIO#ungetbyte" => -> { s = StringIO.new(+""); s.pos = 2**61; s.ungetbyte(1) },
  "JSON depth" => -> { JSON.generate([[1]], indent: " ", array_nl: "\n", depth: 2**61, max_nesting: 0) },
  "JSON depth less" => -> { JSON.generate([[1]], indent: " ", array_nl: "\n", depth: 2**50, max_nesting: 0) },
  "combination" => -> { [1, 2].repeated_combination(HUGE).first(1) }, "BigDecimal#to_s" => -> { raise ArgumentError if BigDecimal("1e400000000000").to_s("F").size > 0 },
  "String.new" => -> { String.new(capacity: HUGE) }, "Time.at" => -> { Time.at(10**100).to_s; raise RangeError }, "sleep" => -> { sleep(-1) },
  "Hash capacity" => -> { Hash.new(capacity: -1); raise ArgumentError }, "product" => -> { a = [0] * 100_000; a.product(a, a, a) }, "cycle" => -> { [1].cycle(HUGE).to_a if false; raise ArgumentError },
  "Array#first" => -> { [1].first(2**64) }, "Array#pack M" => -> { [("a" * 10)].pack("m#{2**64}") }, "round" => -> { raise RangeError if 10.round(-HUGE) == 0 },
}
limited = RubyVM.new("limited", "-e", <<~'RUBY', memory_limit: 64 << 20)
  n = 2**30
  got = [-> { "a".ljust(n) }, -> { Array.new(n) }, -> { format("%*c", n, 0x80) }, -> { [].pack("x#{n}") }, -> { File.open("/dev/zero").read(n) }, -> { Random.bytes(n) }].map do |call|
    call.call
    :done
  rescue NoMemoryError
    :refused
  end
  RubyVM::ARGV[0] << got
RUBY
answer = RubyVM::Channel.new
limited.start(answer)
p answer.recv #=> [:refused, :refused, :refused, :refused, :refused, :refused]

# What fits is read: a stream's buffer counts once.
limited = RubyVM.new("limited", "-e", "RubyVM::ARGV[0] << File.open('/dev/zero').read(24 << 20).size", memory_limit: 64 << 20)
limited.start(answer)
p answer.recv #=> 25165824

allowed = [ArgumentError, RangeError, IndexError, NoMemoryError, SystemCallError, FloatDomainError, TypeError, IO::Buffer::AllocationError]
calls.each do |name, call|
  call.call
  puts "#{name}: no error"
rescue Exception => e
  puts "#{name}: #{e.class}" unless allowed.any? { |c| c === e }
end
puts "still here" #=> still here
