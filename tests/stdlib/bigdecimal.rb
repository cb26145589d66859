require "bigdecimal"
require "bigdecimal/util"

def try = yield.inspect rescue "#{$!.class}: #{$!.message}"

# Reading.
["1", "-1.50", " 12 ", "1_000.5", "1__0", "_1", "1_", ".5", "1e", "1e+5", "1d3", "0x1", "+1", "--1", "1 2", "", "-", "1.5.5", "Infinity", " -Infinity ", "NaN", "NaNx", "1e1_0",
 "1._5", "1e99999999999999999999", "-1e-99999999999999999999", "1\n", "12abc"].each { |s| puts "#{s.dump} #{try { BigDecimal(s) }} #{s.to_d.inspect} #{try { BigDecimal(s, exception: false) }}" }
[nil, true, [], "a".to_sym, 1 << 100, -7, 2r / 3, 1.5, 1i, 1 + 0i].each { |v| puts "#{v.inspect} #{try { BigDecimal(v, 5) }}" }
[0.1, 1.0 / 3, 1e100, 5e-324, -0.0, Float::NAN, -Float::INFINITY, 123456.789].each { |f| puts "#{f} #{BigDecimal(f, 0).inspect} #{BigDecimal(f, 3).inspect}" }
p try { BigDecimal(1.5, 17) }, try { BigDecimal("1", -1) }, try { BigDecimal(1r) }

# Arithmetic with all kinds of numbers.
numbers = %w[0 -0 1 -1 2.5 -7.25 1e20 -1e-20 999999999.999999999 Infinity -Infinity NaN].map { |s| BigDecimal(s) }
numbers.each do |a|
  numbers.each { |b| puts "#{a} #{b} #{try { a + b }} #{try { a - b }} #{try { a * b }} #{try { a % b } unless a.zero? || b.infinite?} #{try { a <=> b }} #{try { a == b }} #{try { a.div(b) } unless b.infinite?} #{try { a.div(b, 5) }}" }
end
b = BigDecimal("1.25")
[3, -3, 1 << 70, 0.5].each { |n| p [b + n, n + b, b - n, n - b, b * n, n * b, b > n, n > b, b == n, n == b, b <=> n, n <=> b] }
p try { b + nil }, try { b + "1" }, try { b < nil }, try { b < "x" }, b == "1.25", b <=> nil, try { b.coerce("a") }, b.coerce(1), b.coerce(0.5), try { b.add("1", 2) }
class Odd
  def coerce(n) = [n.to_i, 100]
end
p b + Odd.new, b < Odd.new, b.divmod(Odd.new)
p b.eql?(BigDecimal("1.250")), b.hash == BigDecimal("1.250").hash, { b => 1 }[BigDecimal("1.2500")], b.frozen?, b.dup.equal?(b), b.clone.equal?(b), [b, 2, 0.5].sum, [b, 2, 0.5].max

# Rounding.
values = %w[2.5 -2.5 3.5 2.4999 0.05 -0.05 123.456 -123.456 0 1e10 0.5].map { |s| BigDecimal(s) }
modes = %i[up down half_up half_down half_even ceiling floor]
values.each do |v|
  puts [v, *modes.map { |m| v.round(0, m) }, *modes.map { |m| v.round(1, m) }, v.round(-1), v.round, v.round(half: :even), v.floor, v.ceil, v.truncate, v.floor(1), v.ceil(1), v.truncate(1), v.fix, v.frac.abs].join(" ")
end
p try { numbers[-1].round }, try { numbers[-2].to_i }, numbers[-1].round(2), b.round(1, half: :up), b.round(1, BigDecimal::ROUND_UP)
p b.add(BigDecimal("0.0049"), 3), b.sub(1, 1), b.mult(b, 2), b.div(3, 4), try { b.add(1, -1) }, b.add(1, 0)

# Modes.
p BigDecimal.mode(BigDecimal::ROUND_MODE), BigDecimal.mode(BigDecimal::EXCEPTION_ALL), BigDecimal.limit
BigDecimal.save_rounding_mode do
  BigDecimal.mode(BigDecimal::ROUND_MODE, :floor)
  p BigDecimal("-1.5").round, BigDecimal("1").div(3, 3), BigDecimal("-1").div(3, 3)
  Thread.new { p BigDecimal.mode(BigDecimal::ROUND_MODE) }.join
end
BigDecimal.save_exception_mode do
  BigDecimal.mode(BigDecimal::EXCEPTION_NaN, true)
  p try { BigDecimal("NaN") + 1 }, try { BigDecimal("NaN") }
  BigDecimal.mode(BigDecimal::EXCEPTION_INFINITY, true)
  p try { BigDecimal("Infinity") + 1 }
end
p BigDecimal.mode(BigDecimal::EXCEPTION_ALL), BigDecimal("NaN"), BigDecimal("1") / 0, BigDecimal("-1") / 0, BigDecimal("0") / 0, try { BigDecimal("1").div(0) }, try { BigDecimal("1") % 0 }
BigDecimal.save_limit do
  p BigDecimal.limit(4)
  p BigDecimal("1.23456") + BigDecimal("1"), BigDecimal("1.23456") * 2, BigDecimal("2") / 3, BigDecimal("1.23456")
end
p try { BigDecimal.mode(0) }, try { BigDecimal.mode(1, 2) }, try { BigDecimal.limit(-1) }, BigDecimal.double_fig

# Parts and text.
%w[1234.5678 -7.00012 1e30 0 -0 Infinity NaN 100].each do |s|
  n = BigDecimal(s)
  p [n.split, n.exponent, n.sign, n.precision, n.scale, n.precision_scale, n.n_significant_digits, n.nan?, n.infinite?, n.finite?, n.zero?, n.nonzero?, -n, n.abs, try { n.to_i }, n.to_f, try { n.to_r }]
  p [n.to_s, n.to_s("F"), n.to_s("+F"), n.to_s(" E"), n.to_s(3), n.to_s("2E"), n.inspect, "#{n}", n.to_digits]
end
p BigDecimal("0.12345678901").to_s("3F"), try { b.to_s(0) }, format("%.3f %d %s %08.2f", BigDecimal("1.23456"), BigDecimal("99.9"), b, BigDecimal("-3.14159"))
p Integer(BigDecimal("4.5")), Float(b), Rational(b), Marshal.load(Marshal.dump([b, BigDecimal("NaN").nan?])), BigDecimal._load("18:0.125e1"), try { BigDecimal._load("x:1") }
p b ** 2, b ** 0, b ** -2, BigDecimal("2") ** 100, BigDecimal("-2") ** 3, BigDecimal("4") ** 0.5, b.power(3)
p BigDecimal("16").sqrt(2).to_i, try { BigDecimal("-1").sqrt(2) }, try { BigDecimal("NaN").sqrt(2) }, BigDecimal("0").sqrt(1), BigDecimal("Infinity").sqrt(1)
p 3.to_d, 0.1.to_d, (1r / 3).to_d(5), "1.5abc".to_d, nil.to_d, b.to_d.equal?(b), 0.3333.to_d(2)
p (1..3).step(BigDecimal("0.5")).to_a, BigDecimal("1").step(2, BigDecimal("0.25")).map(&:to_s), BigDecimal("5").clamp(1, 3), BigDecimal("1e-1").positive?, BigDecimal("7").integer?
