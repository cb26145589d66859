i = 0
while i < 5
  i += 1
  next if i == 2
  break if i == 4
  puts i
end
i = 3
until i == 0
  i -= 1
end
p i
begin
  i += 10
end while i < 5
p i
i += 1 while i < 20
p i
i -= 1 until i < 15
p i
r = while true
  break "value", 2
end
p r
p((while false; end))
n = 0
loop do
  n += 1
  next if n.odd?
  break if n > 6
  print n, " "
end
puts
p loop { break }
p loop { break 7 }
outer = (1..3).each do |a|
  (1..3).each do |b|
    next if b == 2
    break if b == 3
    puts "#{a}#{b}"
  end
end
p outer
e = [1, 2].each
r = loop { e.next }
p r
