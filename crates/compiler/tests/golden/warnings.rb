def m
  x = {a: 1, a: 2}
  if x = 1 then 2 end
end
