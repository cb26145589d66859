i = 0
while i < 10
  i += 1
  next if i == 3
  break if i != 7
  redo if i >= 8 && i <= 9
end
x = until i > 5 || done?
  break i, 2
end
begin
  i -= 1
end while i > 0
loop_value = while true do break end
