# Powers modulo odd and even numbers of one limb and of many.
def slow(a, n, m) = n.digits(2).reverse.inject(1 % m) { |r, bit| r = r * r % m; bit == 1 ? r * a % m : r }
mods = [3, 10**9 + 7, 2**61 - 1, 2**63 + 29, 2**64 - 59, 2**64 + 13, 10**50 + 7, 10**50, 2**127 - 1, 2**521 - 1, 3**900, 2**2000 + 9, 7 * 2**200, 2**4096 + 1, 2**4100 + 3]
bases = [0, 1, 2, -3, 12_345, 2**64, -(2**70) - 1, 10**60 + 9]
powers = [0, 1, 2, 17, 65_537, 2**40 + 1, 2**255 - 19, 10**80 + 3]
wrong = mods.flat_map { |m| [m, -m].flat_map { |m| bases.flat_map { |a| powers.reject { |n| n.pow(a, m) != slow(n, a, m) if a >= 0; a.pow(n, m) == slow(a, n, m) }.map { |n| [a, n, m] } } } }
p wrong
p 12345.pow(10**50, 10**50 + 7), (-3).pow(5, -(2**65 + 1)), (2**64 + 13).pow(3, 2**64 + 13), 5.pow(0, 2**70 + 1), 5.pow(0, 1)
