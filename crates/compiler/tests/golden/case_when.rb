x = case a
when 1, "s", Integer then 1
when *list then 2
when nil
else 3
end
case
when a < b then 1
when c, *d then 2
end
y = 1
y = case y when 5 then y end
