foo
  .bar(1,
       baz)
  .qux

x = [
  a,
  b
]
call(
  1,
  other
)
