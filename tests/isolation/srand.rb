require_relative "support/pair"
srand(7)
expected = Array.new(4) { rand(1000) }
srand(7)
first = [rand(1000), rand(1000)]
results = pair(<<~'RUBY')
  srand(40 + me)
  a = rand(1000)
  both.()
  out << [a, rand(1000), Random.seed]
RUBY
p first + [rand(1000), rand(1000)] == expected
p [1, 2].map { |n| r = Random.new(40 + n); [r.rand(1000), r.rand(1000), 40 + n] } == results
