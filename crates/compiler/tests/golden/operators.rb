a = 1
b = a + 2
b = a - 70000
b = a * b
b = a / 2
b = a % 3
b = a ** 2
b = a & 255
b = a | b
b = a ^ b
b = a << 3
b = a >> b
b = -a
b = !a
b = ~a
b = +a
b = a <=> b
b = a === b
b = a =~ b
b = a != b
b = a[b]
b = a.length
b = a.size + a.succ
b = a.empty?
self + 1
