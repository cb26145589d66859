def m
  x = 1
  foo(
