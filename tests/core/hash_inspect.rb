p({ name: 1, "a" => 2, 3 => nil, nil => :x, [1] => { a: {} }, 1.5 => "s", "q r": 1, a?: 2, B: 3, "é": 4, :+ => 5, if: 6, a!: 7, "b=": 8 })
puts({ a: 1 }.to_s, {}.inspect)
h = { a: 1 }
h[:self] = h
p h
puts "#{{ 'k' => :v }}"
p [{ x: 1 }], Struct.new(:h).new({ a: 1 }).h
