for i in 1..3
  print i, ","
end
puts
p i
for a, b in [[1, 2], [3, 4]]
  p a + b
end
for x in [1, 2, 3] do
  next if x == 2
  p x
end
r = for q in [1]; end
p r
r = for q in [1, 2]; break q * 10 if q == 2; end
p r
for k, v in { a: 1, b: 2 }
  puts "#{k}=#{v}"
end
$g = nil
for $g in [7, 8]; end
p $g
arr = [0, 0]
for arr[0] in [5, 6]; end
p arr
