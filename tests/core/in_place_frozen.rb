# What select! and its like do when the block freezes the Array, or changes it: an error comes with the first element that has to move.
def try
  yield
rescue => e
  e.class
end
%i[select! keep_if reject! delete_if].each do |m|
  [->(x) { true }, ->(x) { false }, ->(x) { x.odd? }, ->(x) { x > 3 }].each do |verdict|
    a = [1, 2, 3, 4]
    calls = 0
    r = try { a.__send__(m) { |x| calls += 1; a.freeze if x == 2; verdict.(x) } }
    p [m, r, a, calls]
    %i[pop shift clear].each do |change|
      a = [1, 2, 3, 4, 5]
      r = try { a.__send__(m) { |x| a.__send__(change) if x == 2; verdict.(x) } }
      p [m, change, r, a]
    end
    a = [1, 2, 3, 4, 5]
    try { a.__send__(m) { |x| raise "out" if x == 3; verdict.(x) } }
    p [m, a]
  end
end
