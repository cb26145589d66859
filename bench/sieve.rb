# Primes by the sieve of Eratosthenes, with loops by blocks.

def sieve(limit)
  is_prime = Array.new(limit + 1, true)
  is_prime[0] = is_prime[1] = false
  2.upto(Integer.sqrt(limit)) do |i|
    next unless is_prime[i]
    (i * i).step(limit, i) { |k| is_prime[k] = false }
  end
  is_prime.each_with_index.inject(0) { |sum, (prime, i)| prime ? sum + i : sum }
end

def count(limit)
  composite = Array.new(limit + 1, false)
  n = 0
  (2..limit).each do |i|
    next if composite[i]
    n += 1
    k = i * i
    while k <= limit
      composite[k] = true
      k += i
    end
  end
  n
end

puts sieve(1_500_000)
18.times { puts count(800_000) }
