# What is `eql?` has one hash code, what is not has another: over values of every class that says so itself.
require "set"
require "date"
require "bigdecimal"
require "pathname"

S = Struct.new(:a, :b)
T = Struct.new(:a, :b)
D = Data.define(:a)
E = Data.define(:a)
class Other; def m = 1; def n = 2; end
OBJECT = Other.new
PROC = proc { 1 }
big = 2**70

# Each row makes its value anew every time.
makers = {
  string: -> { "a" + "bc" }, string_empty: -> { +"" }, string_binary: -> { "\xff".b }, string_utf8: -> { "é" + "" }, string_latin: -> { "é".encode("ISO-8859-1") },
  string_utf16: -> { "ab".encode("UTF-16LE") }, string_long: -> { "x" * 300 }, string_longer: -> { "x" * 301 }, string_nul: -> { "abc\0" },
  symbol: -> { "abc".to_sym }, symbol_other: -> { :abd }, integer: -> { 3 }, integer_other: -> { -3 }, bignum: -> { big + 1 }, bignum_other: -> { -big - 1 },
  float: -> { 1.5 }, float_other: -> { -1.5 }, float_integer: -> { 3.0 }, float_large: -> { 1e300 * 10 }, infinity: -> { 1 / 0.0 },
  rational: -> { Rational(1, 2) }, rational_turned: -> { Rational(2, 1) }, rational_big: -> { Rational(big, 3) }, complex: -> { Complex(1, 2) }, complex_turned: -> { Complex(2, 1) },
  complex_float: -> { Complex(1.0, 2) },
  array: -> { [1, 2] }, array_turned: -> { [2, 1] }, array_nested: -> { [[1], 2] }, array_empty: -> { [] }, array_float: -> { [1.0, 2] }, array_of_empty: -> { [[]] }, array_nil: -> { [nil] },
  hash: -> { {a: 1, b: 2} }, hash_swapped: -> { {a: 2, b: 1} }, hash_turned: -> { {1 => :a, 2 => :b} }, hash_empty: -> { {} }, set: -> { Set[1, 2] }, set_other: -> { Set[1, 3] }, set_empty: -> { Set[] },
  struct: -> { S.new(1, 2) }, struct_turned: -> { S.new(2, 1) }, struct_class: -> { T.new(1, 2) }, data: -> { D.new(1) }, data_class: -> { E.new(1) },
  range: -> { 1..2 }, range_excluding: -> { 1...2 }, range_endless: -> { (1..) }, range_beginless: -> { (..1) },
  symbol_proc: -> { :a.to_proc }, symbol_proc_other: -> { :b.to_proc }, proc_copy: -> { PROC.dup }, proc_other: -> { @other ||= proc { 1 } },
  lambda: -> { @lambda ||= lambda { 1 } },
  method: -> { OBJECT.method(:m) }, method_other: -> { OBJECT.method(:n) }, method_receiver: -> { (@receiver ||= Other.new).method(:m) },
  method_proc: -> { @method_proc ||= OBJECT.method(:m).to_proc }, method_proc_other: -> { @method_proc_other ||= OBJECT.method(:n).to_proc },
  unbound: -> { Other.instance_method(:m) }, unbound_other: -> { Other.instance_method(:n) },
  regexp: -> { Regexp.new("a+") }, regexp_options: -> { Regexp.new("a+", Regexp::IGNORECASE) }, regexp_other: -> { Regexp.new("a*") },
  match: -> { /b/.match("abc") }, match_other: -> { /c/.match("abc") },
  time: -> { Time.at(1, 5) }, time_other: -> { Time.at(1, 6) }, time_exact: -> { Time.at(Rational(1, 3)) },
  date: -> { Date.new(2024, 2, 29) }, date_other: -> { Date.new(2024, 3, 1) }, datetime: -> { DateTime.new(2024, 2, 29, 1) },
  decimal: -> { BigDecimal("1.5") }, decimal_other: -> { BigDecimal("-1.5") }, decimal_large: -> { BigDecimal("1.5e50") },
  pathname: -> { Pathname.new("a/b") }, pathname_other: -> { Pathname.new("a/c") },
  sequence: -> { 1.step(10, 2) }, sequence_other: -> { 1.step(10, 3) },
  nil: -> { nil }, true: -> { true }, false: -> { false }, class: -> { Other }, module: -> { Comparable }, object: -> { OBJECT }, encoding: -> { Encoding::UTF_8 },
}

values = makers.transform_values { |m| [m.call, m.call] }
values.each do |name, (a, b)|
  puts "#{name}: made twice, not eql?" unless a.eql?(b)
  puts "#{name}: eql? but other codes" unless a.hash == b.hash
  puts "#{name}: no Integer" unless Integer === a.hash
  puts "#{name}: not found in a Hash" unless {a => 1}[b] == 1
end
values.to_a.combination(2) do |(n, (a, _)), (m, (b, _))|
  puts "#{n} and #{m}: eql?" if a.eql?(b)
  puts "#{n} and #{m}: one code" if a.hash == b.hash
  puts "#{n} and #{m}: one key" if {a => 1}.key?(b)
end
puts values.size

# Zero has two signs and one code; NaN is only itself.
p [0.0.eql?(-0.0), 0.0.hash == -0.0.hash] #=> [true, true]
nan = 0 / 0.0
p({nan => 1}[nan]) #=> 1
