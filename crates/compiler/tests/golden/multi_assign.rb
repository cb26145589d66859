a, b = b, a
a, (b, *c), d = foo
*a, b = 1, 2, 3
a, b = 1
x.y, z[i], @v, $g, C, C::D, @@c = list
r = (a, b = 1, 2)
a, = foo
(a, b), c = [1, 2], 3
self.p, q = 1, *foo
