# Six loops in each other, by blocks of Integers and Ranges: what a loop costs by itself.

def nested(n)
  sum = 0
  n.times do |a|
    (0...n).each do |b|
      1.upto(n) do |c|
        0.step(n - 1, 2) do |d|
          (n..1).each { |x| sum += x }
          n.downto(1) { |e| sum += a ^ b & c + d - e }
        end
      end
    end
  end
  sum
end

puts nested(34)
