for i in 1..3
  next if i == 1
  break if i == 2
  x = i
end
for a, (b, *c), d in list do p a end
for @i in list; end
for h[:k] in list; end
def m
  for q in list
    yield q
    return q
  end
end
[1].each { |v| for w in v do u = w; redo; end; u }
