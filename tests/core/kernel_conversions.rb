p Integer("42")
p Integer("0b11", 2)
p Integer(3.9)
p Integer("0o17")
p Integer("-5")
p Float("1.5")
p Float(3)
p String(5)
p String(nil)
p String(:a)
p Array(nil)
p Array([1])
p Array(1..2)
p Array({ a: 1 })
p Rational("1/2")
p Complex("1+i")
p Hash(nil).to_a
p Hash([]).to_a
[["x"], [nil], [[]], ["1.5"], [""], [" "], ["1 2"], ["0x"], ["_1"], ["1_"], [Object]].each do |a|
  Integer(*a)
  puts "ok"
rescue ArgumentError, TypeError => e
  puts "#{e.class}: #{e.message}"
end
[[nil], [""], ["."], ["1e"], ["0x1p-2"], [" 1.5 "], ["1,5"], ["Infinity"], [:a]].each do |a|
  p Float(*a)
rescue ArgumentError, TypeError => e
  puts "#{e.class}: #{e.message}"
end
begin; Array(BasicObject.new); rescue => e; p e.class; end
begin; Hash(5); rescue TypeError => e; p e.message; end
class C; def to_str = "7"; def to_int = 8; def to_ary = [9]; def to_hash = { a: 1 }; def to_s = "cs"; def to_proc = proc { |x| x * 2 }; def to_i = 80; def to_f = 1.25; end
c = C.new
p Integer(c)
p [1, 2, 3, 4, 5, 6, 7, 8, 9][c]
p "x" + c
p [0] + c
p [1, 2].map(&c)
p "%d" % c
p File.join(c, "b")
p Array(c)
p String(c)
p Hash(c).to_a
p [[1], c].flatten
p "a".center(c)
p [c].join("-")
p 2.0 * 1
p Array.new(c).size
p "abc" * 2
p "#{c}"
p [1, 2].first(c)
p Float(1)
