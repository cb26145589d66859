puts "never run"
x = [1, 2
puts x
