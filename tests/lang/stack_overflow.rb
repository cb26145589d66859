def forever(n) = forever(n + 1) + 1
3.times do
  forever(0)
rescue SystemStackError => e
  puts e.class, e.message
end
def mutual_a(x) = mutual_b(x)
def mutual_b(x) = [x].each { |y| mutual_a(y) }
begin
  mutual_a(1)
rescue SystemStackError
  puts "through a block"
end
a = []
a << a
p a
def depth(n) = n == 0 ? 0 : 1 + depth(n - 1)
p depth(5000)
puts "alive"
