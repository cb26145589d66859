# Powers modulo odd and even numbers of one limb and of many.
def slow(a, n, m) = n.digits(2).reverse.inject(1 % m) { |r, bit| r = r * r % m; bit == 1 ? r * a % m : r }
mods = [3, 10**9 + 7, 2**61 - 1, 2**63 + 29, 2**64 - 59, 2**64 + 13, 10**50 + 7, 10**50, 2**127 - 1, 2**521 - 1, 3**900, 2**2000 + 9, 7 * 2**200, 2**4096 + 1, 2**4100 + 3]
bases = [0, 1, 2, -3, 12_345, 2**64, -(2**70) - 1, 10**60 + 9]
powers = [0, 1, 2, 17, 65_537, 2**40 + 1, 2**255 - 19, 10**80 + 3]
wrong = mods.flat_map { |m| [m, -m].flat_map { |m| bases.flat_map { |a| powers.reject { |n| n.pow(a, m) != slow(n, a, m) if a >= 0; a.pow(n, m) == slow(a, n, m) }.map { |n| [a, n, m] } } } }
p wrong
p 12345.pow(10**50, 10**50 + 7), (-3).pow(5, -(2**65 + 1)), (2**64 + 13).pow(3, 2**64 + 13), 5.pow(0, 2**70 + 1), 5.pow(0, 1)
# Moduli of two to nine limbs, all ones among them.
odd = (2..9).flat_map { |k| [2**(64 * k) - 1, 2**(64 * k) - 189, 2**(64 * k - 63) + 3] }
p odd.reject { |m| [m - 1, m / 3, 2**64 - 1].all? { |a| [3, 2**40 + 1, 2**200 + 9].all? { |n| a.pow(n, m) == slow(a, n, m) } } }
# Decimal digits of numbers of one to seventy limbs.
def digits(n) = n < 10**9 ? n.digits.reverse.join : digits(n / 10**9) + (n % 10**9).digits.reverse.join.rjust(9, "0")
p (1..70).flat_map { |k| [2**(64 * k) - 1, 2**(64 * k - 64), 10**(19 * k), 10**(19 * k) - 1, 3**(40 * k)] }.reject { |n| n.to_s == digits(n) && (-n).to_s == "-#{digits(n)}" && n.to_s.to_i == n }
