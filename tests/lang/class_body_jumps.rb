# `break` and `next` in a class body leave the loop or block that it stands in.
def told = yield

seen = []
3.times do |i|
  seen << [:block, i]
  class Body
    next
  end
  seen << :never
end
p seen

p (1..3).each { |i|
  module Outer
    class Inner
      break :out
    end
    raise "not reached"
  end
}

i = 0
found = while i < 5
  i += 1
  class Body
    next :ignored
  end if i < 3
  class Body
    break [:found, self] if true
  end
end
p i, found

p told { class Body; next 7; end; 1 }

# Clauses on the way run, those of the body and those around.
trace = []
r = [1, 2].each do |n|
  begin
    trace << n
    class Body
      begin
        break 5
      ensure
        $ensured = true
      end
    end
  ensure
    trace << :ensure
  end
end
p r, trace, $ensured

# A loop inside of the body is its own.
class Body
  n = 0
  while true
    n += 1
    next if n < 3
    break
  end
  p n
end

# In a lambda it is the lambda that ends.
l = lambda do
  class Body
    break 3
  end
  4
end
p l.call

# Both jumps and a usual end at one body.
out = []
4.times do |k|
  $k = k
  value = class Body
    next if $k == 0
    break if $k == 3
    $k * 10
  end
  out << value
end
p out

class Body
  $again = [1, 2, 3].each do |x|
    class Nested
      break :nested
    end
  end
end
p $again

def method_around
  yield
ensure
  p :method_ensure
end
method_around do
  class Body
    break
  end
end
for q in 1..3
  class Body
    break
  end
end
p q
