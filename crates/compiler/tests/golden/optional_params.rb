def m(a, b = 1, c = foo(b), d = d, *rest, (e, (f, *g)), h: 1, i: h + 1, j:)
  e
end
