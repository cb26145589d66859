a = +"abc"
b = a
b << "d"
p a, a.equal?(b)
c = a.dup
c << "e"
p a, c
def mutate(s) = s << "!"
mutate(a)
p a
arr = Array.new(2, +"x")
arr[0] << "y"
p arr
sub = a[0, 3]
sub << "Z"
p a, sub
big = "x" * 1000
part = big[10, 500]
big[10] = "Y"
p part[0], big[10]
part[0] = "Q"
p big[10], part[0], part.size
list = (1..100).to_a
slice = list[10, 50]
list[10] = :changed
slice << :end
p slice[0]
p slice.size
p list.size
p list[60]
sh = list.dup
sh.shift(5)
p sh.first, list.first
list.shift
p sh.first, list.first
