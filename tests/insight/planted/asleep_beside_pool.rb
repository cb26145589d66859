# A program that sleeps while its pool has nothing to do.
pool = RubyVM::Pool.new(size: 2)
pool.map(1..400) { |n| (1..3000).sum + n }
sleep 1
