def m
  foo
rescue A, *B => @e
  bar
  retry if x
rescue
  baz
else
  qux
end
x = (foo rescue 1)
y = begin
  1
rescue => h[:k]
  2
end
