a = 1
b = 2
p 1 if a < b
p 2 unless a <= 3
p 3 if a == b && a != 5 || !b
p 4 if (a > b and b >= a) or not c?
p 5 if a.nil?
x = if a then 1 end
y = unless a then 1 else 2 end
z = a ? b : nil
w = a && b
v = a || b || 3
p 6 if a && (b || c)
p 7 while a == b
