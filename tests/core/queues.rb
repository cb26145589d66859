# Arrays and Hashes used as queues at both ends, against slices that share their buffers.
random = Random.new(7)
array, model, copies = [], "", []
5000.times do |i|
  c = (97 + i % 26).chr
  case random.rand(9)
  when 0..2 then array.unshift(c); model = c + model
  when 3 then array.unshift(c, "Z", c); model = "#{c}Z#{c}#{model}"
  when 4 then array.push(c); model += c
  when 5 then array.shift; model = model[1..] || ""
  when 6 then array.pop; model = model[0...-1] || ""
  when 7 then copies << [array[0..], model] if i % 50 == 0
  else array.insert(array.size / 2, c); model = model.dup.insert(model.size / 2, c)
  end
  raise "#{i}" unless array.size == model.size && (i % 100 > 0 || array.join == model)
end
p array.join == model, copies.all? { |a, m| a.join == m }

numbers = Array.new(20) { |i| i }
100.times { |i| numbers.unshift(-i) }
p numbers.first(3), numbers.last(3), numbers.size, numbers.sum
numbers.unshift(*Array.new(1000, 1))
p numbers.size, numbers[999..1001]
numbers.unshift("text").push("end")
p numbers.values_at(0, 1, -1)

hash = {}
1000.times { |i| hash[i] = i.to_s }
990.times { |i| hash.delete(hash.first[0]) }
p hash.to_a, hash.first, hash.keys.first
hash.each { |k, _| hash.delete(k) if k < 995 }
p hash.each_with_index.to_a, hash.min_by { |k, _| k }, hash.any? { |k, _| k == 995 }
hash[1] = 2
hash.delete_if { |k, _| k > 100 }
p hash, hash.shift, hash.first, hash
p "x".center(7, "ab"), "x".ljust(5, "é"), "é".rjust(4), "x" * 3 == +"xxx", "abc".dup == "abc"
