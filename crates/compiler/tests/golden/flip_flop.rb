list.each { |x| p x if (x == 1)..(x == 3) }
p 1 if a...b
