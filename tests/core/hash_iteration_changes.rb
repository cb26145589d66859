h = { a: 1, b: 2, c: 3 }
h.each { |k, v| h[k] = v + 1 }
p h.to_a
h.each { |k, v| h.delete(k) if v == 3 }
p h.to_a
begin
  h.each { |k, v| h[:"new_#{k}"] = 1 }
rescue => e
  p e.class, e.message
end
p h.size < 4
h = { a: 1, b: 2 }
h.delete_if { |k, v| v == 1 }
p h.to_a, h.each { break :broke }, h.map { next 5 }
r = h.each_pair { |k, v| }
p r.equal?(h)
e = { x: 1, y: 2 }.each
p e.next, e.next, (e.next rescue :stop)
big = (1..200).to_h { |i| [i, i] }
seen = 0
big.each { |k, v| big.delete(k); seen += 1 }
p seen, big.empty?
big[:again] = 1
p big.to_a
