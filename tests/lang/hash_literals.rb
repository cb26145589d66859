a = 1
b = 2
h = { a: 1, "b": 2, "c d": 3, 4 => 5, "s" => 6, nil => 7, [1] => 8, 1.5 => 9 }
p h.keys, h.values, { a:, b: }.to_a
h3 = { **{ a:, b: }, a: 10, **{ z: 0 } }
p h3.to_a
def m(h) = h.to_a
p m(x: 1), m("y" => 2, z: 3)
p({ if: 1, def: 2, end: 3 }.keys, { a: { b: [1, { c: 2 }] } }[:a][:b][1][:c])
k = "dyn"
p({ "#{k}": 1, k.to_sym => 2 }.to_a, {}.empty?, [1, a: 2].last.class)
