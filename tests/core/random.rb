r = Random.new(42)
p r.rand
p r.rand(10)
p r.rand(1..6)
p r.rand(1.5)
p r.rand(1.0..2.0)
p r.bytes(4).bytes
p r.seed
p Random.new(42).rand == Random.new(42).rand
p Random.new(42) == Random.new(42)
srand(1234)
p rand
p rand(100)
p rand(1..10)
p [1, 2, 3, 4, 5].shuffle
p [1, 2, 3].sample
p rand(2**80)
p rand(0)
p rand(-5)
p rand(1.5)
p Random.rand(3)
p Random.rand(1.0..1.5)
p Random.new(1).rand(2**100)
p Random.new(7).rand(10**30)
p Random.new(3).rand(0..2**64)
p Array.new(10) { |i| Random.new(i).rand(1000) }
p((1..10).to_a.shuffle(random: Random.new(9)))
p((1..10).to_a.sample(4, random: Random.new(9)))
p((1..100).to_a.sample(15, random: Random.new(2)))
p Random.new(2**70).rand(1000)
p Random.new(-5).rand(1000)
p Random.new(1.9).seed
begin; Random.new(1).rand(0); rescue ArgumentError => e; p e.message; end
begin; Random.rand(-1); rescue ArgumentError => e; p e.message; end
begin; Random.new(1).rand(3..1); rescue ArgumentError => e; p e.message; end
a = Random.new(5)
10.times { a.rand }
b = a.dup
p a.rand == b.rand
p a.rand(5) == b.rand(5)
p a == b
p srand(3)
p srand
p Random.new_seed.class
p Random.srand(8).class
p Random.seed
