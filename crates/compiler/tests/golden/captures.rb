a = 1
b = 2
[1].each do |x; y|
  a += x
  y = b
  -> { a + x + y }
end
b
