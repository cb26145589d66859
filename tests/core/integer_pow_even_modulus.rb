# Powers modulo even numbers of several words.
def slow(base, exponent, modulus)
  result = 1 % modulus
  exponent.digits(2).reverse_each { |bit| result = result * result % modulus; result = result * base % modulus if bit == 1 }
  result
end
odd = [1, 3, 10**9 + 7, 2**64 - 59, 2**89 - 1, 3**100, 7**300]
odd.each do |q|
  [1, 2, 31, 63, 64, 65, 128, 500].each do |twos|
    modulus = q << twos
    next if modulus < 2**64
    same = [0, 1, 2, 65_537, 2**70 + 3, 3**120].all? do |exponent|
      [0, 1, 2, 3, -1, -5, modulus - 1, modulus + 7, q, 1 << twos, 10**50].all? do |base|
        base.pow(exponent, modulus) == slow(base, exponent, modulus) && base.pow(exponent, -modulus) == slow(base, exponent, -modulus)
      end
    end
    p [q.bit_length, twos, same, 3.pow(3**120, modulus) % 1_000_003]
  end
end
