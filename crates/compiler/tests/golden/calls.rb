foo
foo()
foo 1, x
self.foo 2
a.b(1).c
a&.b(1)&.c { 2 }
foo(*a)
foo(1, *a, 2, k: 1)
foo(k: 1, **h)
foo(**h)
foo("a" => 1)
foo(&b)
foo(1, *a, k: 2, &:sym)
foo(1) { |x| x }
foo(*a) { |x| x }
a.()
a.b = 1
x = (a.b = 2)
a[1] = 2
x = a[1] = 2
a[1, 2] = 3
x = (a[*b] = 4)
a&.b = 5
self.c = 6
self[0] = 7
