a = 1
b = )
c = 2
d = 3
e = 4
f = 5
g = 6
h = (1
