case v
in Foo(1, *, 2) | Bar[3]
  1
in 1.. | nil | "s" | :sym | /re/ => w
  w
in ->(q) { q } unless w
  5
end
