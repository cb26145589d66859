# Takeuchi's function: deep, call-heavy recursion with three arguments.

def tarai(x, y, z)
  if x <= y
    y
  else
    tarai(tarai(x - 1, y, z), tarai(y - 1, z, x), tarai(z - 1, x, y))
  end
end

n = (ARGV[0] || 13).to_i
puts "tarai(#{n}, #{n / 2}, 0) = #{tarai(n, n / 2, 0)}"
