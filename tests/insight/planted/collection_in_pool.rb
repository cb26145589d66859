# Much is kept in each VM of a pool, and each job asks for a collection.
RubyVM::Pool.open(size: 2, setup: -> { 100_000.times.map { |n| [n, n.to_s] } }) do |pool|
  pool.map(0...40) { |n| RubyVM::Pool.local[n] = n.to_s * 3; GC.start }
end
