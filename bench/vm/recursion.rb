# How many levels methods and blocks recurse until SystemStackError, in a thread and in a fiber. Prints lines `name value levels`.
def plain(n)
  $deepest = n
  plain(n + 1)
end

def through_each(n) = [1].each { $deepest = n; through_each(n + 1) }

def with_many(n, a, b, c, d, e, f, g, h)
  $deepest = n
  w, x, y, z = a + b, c + d, e + f, g + h
  with_many(n + 1, w, x, y, z, 1, 2, 3, 4)
end

def levels
  yield
rescue SystemStackError
  $deepest
end

puts "method #{levels { plain(0) }} levels"
puts "each_with_a_block #{levels { through_each(0) }} levels"
puts "method_of_nine_arguments #{levels { with_many(0, 1, 2, 3, 4, 5, 6, 7, 8) }} levels"
puts "method_in_a_fiber #{Fiber.new { levels { plain(0) } }.resume} levels"
