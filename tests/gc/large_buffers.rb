# Buffers of several MiB grow, shrink, are moved between VMs and come to lie where others were.
MIB = 1 << 20

def pattern(bytes, seed)
  block = Array.new(4096) { |i| (i * seed + i / 251) & 255 }.pack("C*")
  (block * (bytes / 4096 + 1)).byteslice(0, bytes)
end

# Strings around the sizes at which blocks become large, and back.
sizes = [2 * MIB - 1, 2 * MIB, 4 * MIB - 16, 4 * MIB, 4 * MIB + 1, 6 * MIB + 123, 9 * MIB]
sizes.each_with_index do |size, i|
  s = pattern(size, 2 * i + 3)
  kept = s.dup
  kept << pattern(size, 7)
  kept.byteslice(0, size) == s or puts "grown: #{size}"
  kept.byteslice(size..) == pattern(size, 7) or puts "appended: #{size}"
  kept.replace(kept.byteslice(size / 2, MIB))
  kept == s.byteslice(size / 2, MIB) or puts "shrunk: #{size}"
end

# Arrays that grow by pushes, and lose most of what they have.
a = []
1_500_000.times { |i| a << i }
puts a.size, a.sum
a.slice!(100_000..)
puts a.size, a.sum
a.concat(Array.new(900_000) { |i| -i })
puts a.sum, a.last

# Made and dropped, so that small ones and large ones take each other's places.
sum = 0
40.times do |round|
  large = Array.new(400_000 + round * 20_000, round)
  small = Array.new(2000) { |i| "#{round} #{i}" * 20 }
  large[round * 1000] = small
  sum += large.size + large[round * 1000].last.size
  small.each_with_index { |s, i| s.start_with?("#{round} #{i}") or puts "small: #{round} #{i}" }
end
puts sum

# Through a Hash whose table is large, and a Ractor.
hash = {}
400_000.times { |i| hash[i * 7] = i }
puts hash.size, hash[7 * 399_999]
400_000.times { |i| hash.delete(i * 7) if i % 50 != 0 }
puts hash.size, hash.sum { |_, v| v }
text = pattern(5 * MIB, 11)
copy = text.dup
ractor = Ractor.new { s = Ractor.receive; s << s.byteslice(0, 4 << 20); s }
ractor.send(text, move: true)
back = ractor.value
puts back.bytesize, back.byteslice(0, copy.bytesize) == copy, back.byteslice(copy.bytesize..) == copy.byteslice(0, 4 * MIB)
