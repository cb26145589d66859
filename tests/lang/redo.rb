tries = 0
r = [1, 2].map do |v|
  tries += 1
  redo if tries < 3
  v * 10
end
p r, tries
c = 0
i = 0
while i < 2
  i += 1
  c += 1
  redo if c == 1
end
p i, c
seen = []
count = 0
3.times do |k|
  count += 1
  seen << k
  redo if count == 2
end
p seen
