# to_s of Enumerators is that of all objects; inspect says what they enumerate.
e = [1].each
all = [e, (1..3).lazy, Enumerator::Chain.new, e + e, 1.step(3), Enumerator::Product.new([1]), Enumerator.new { |y| y << 1 }]
all.each do |v|
  p v.class, v.method(:to_s).owner, v.to_s.sub(/0x\h+/, "X"), "#{v}" == v.to_s, v.inspect == v.to_s
end
p e.inspect, (e + e).inspect, 1.step(3).inspect
