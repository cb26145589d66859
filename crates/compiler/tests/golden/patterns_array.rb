case [1, [2, 3]]
in []
  0
in Integer, [a, *b]
  a
in Foo(x, *, y)
  1
in [*, 3 => z, *post]
  z
in [1 | 2 => k, ^k, ^(k + 1)] if k > 1
  k
else
  2
end
