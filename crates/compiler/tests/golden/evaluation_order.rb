a = 1
b = a + (a = 5)
c = foo(a, a += 1)
d = a[a = 2]
e = [a, a = 3]
f = a < (a = 4)
a = b || a
a = [*a, a]
a = {a => 1, **a}
a = (begin; b; ensure; a; end)
a = a&.foo(a)
