require "bigdecimal"
require "bigdecimal/util"
require "bigdecimal/math"

# What bigdecimal 4 does otherwise than 3.1, and results to a number of digits.
def try
  yield.inspect
rescue StandardError, NoMemoryError
  "#{$!.class}: #{$!.message}"
end

p BigDecimal("1."), BigDecimal(0.1), BigDecimal(-7).divmod(2), BigDecimal("7.5").divmod(BigDecimal("-2")), try { BigDecimal("NaN").divmod(1) }, (1r / 3).to_d, BigDecimal("1")._dump
p BigDecimal("1") / 3, BigDecimal("2") / 7, BigDecimal("1e-40") / 3, BigDecimal("1234567.89").to_s("3F"), BigDecimal("5").remainder(BigDecimal("Infinity"))
p BigDecimal("2").sqrt(40), BigDecimal("1e-11").sqrt(10), BigDecimal("99999999999999999999").sqrt(10), BigDecimal("2").sqrt(0)
p BigMath.exp(1, 50), BigMath.exp(BigDecimal("-1234.5"), 20), BigMath.exp(BigDecimal("1e-30"), 40), BigMath.log(2, 50), BigMath.log(BigDecimal("1e100"), 20), BigMath.log(BigDecimal("1.000000001"), 20)
p BigMath.log(BigDecimal("123456789.123456789"), 30), BigMath.exp(BigMath.log(BigDecimal("3.7"), 40), 30), BigMath.exp(BigDecimal("1e20"), 5), BigMath.exp(BigDecimal("-1e20"), 5)
p try { BigMath.log(-1, 5) }, try { BigMath.log(0, 5) }, try { BigMath.log(1, 0) }, try { BigMath.exp(nil, 3) }, try { BigMath.exp(1, "x") }, BigMath.log(1, 10), BigMath.exp(0, 10)
p BigMath.PI(30).round(30), BigMath.E(30), BigMath.atan(BigDecimal(1), 20).round(20), BigMath.sin(BigDecimal("0.5"), 20).round(20)
p BigDecimal("2").power(BigDecimal("0.5"), 30), BigDecimal("3") ** BigDecimal("2.5"), BigDecimal("1.1").power(1000, 20), BigDecimal("1.1").power(-3, 10), BigDecimal("0.5") ** -3
p BigDecimal("1e1000000000000000000") ** 10, BigDecimal("1e-1000000000000000000") ** 10, BigDecimal("-2") ** 3, BigDecimal("0") ** -1, BigDecimal("-0") ** -1, BigDecimal("Infinity") ** -1
p BigDecimal("1.5").power(BigDecimal("Infinity")), BigDecimal("0.5").power(BigDecimal("Infinity")), try { BigDecimal("-1").power(BigDecimal("Infinity")) }
b = BigDecimal("1.25")
p try { b.round(0, :sideways) }, try { b.round(0, 9) }, try { b.round(half: "x") }, try { BigDecimal("-1") ** 0.5 }, try { b ** nil }, try { b.sqrt(-1) }, b.round(half: :even), b + 2r / 3, 2r / 3 - b
p try { BigDecimal.new("1") }, try { BigDecimal.allocate }, BigDecimal("1") % BigDecimal("-Infinity"), BigDecimal("-0") % 7, BigDecimal("-3").frac, BigDecimal("-0.00012").to_digits
# Far apart: no memory for the digits between them.
p BigDecimal("1e300000000000").add(BigDecimal("1e-300000000000"), 20), BigDecimal("1e300000000000") > 1, BigDecimal("1e300000000000").round(2) == BigDecimal("1e300000000000")
p try { BigDecimal("1e300000000000") + 1 }, try { BigDecimal("1e300000000000").to_i }, try { BigDecimal("1e300000000000").to_s("F") }
# Modes are the fiber's, and the VM's.
BigDecimal.mode(BigDecimal::ROUND_MODE, :up)
p Fiber.new { BigDecimal.mode(BigDecimal::ROUND_MODE) }.resume, RubyVM.fork { BigDecimal.mode(BigDecimal::ROUND_MODE) }.value, BigDecimal("1").div(3, 2)
p RubyVM.fork(BigDecimal("1.5")) { |n| [n + 1, n.frozen?, n.class.equal?(BigDecimal)] }.value
p Ractor.new(BigDecimal("2.5")) { |n| n * 2 }.value
# Needs the standard library.
