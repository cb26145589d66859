def m(x)
  case x
  in Integer | Float => n if n > 100 then "big #{n}"
  in Integer then "int"
  in "lit" then "lit"
  in [] then "empty"
  in [a] then "one #{a}"
  in [Integer => a, String => b] then "pair #{a} #{b}"
  in [first, *rest] if rest.size > 3 then "long #{first} #{rest.size}"
  in [1, [2, *, last]] then "nested #{last}"
  in { type: :circle, r: } then "circle #{r}"
  in { type: :rect, w: Integer => w, h: } unless h == 0 then "rect #{w}x#{h}"
  in { name: String => name, **rest } then "name #{name} #{rest.size}"
  in {} then "empty hash"
  in nil then "nil"
  in ..."m" then "early"
  in Symbol | String => s then "text #{s}"
  else "else"
  end
end
[500, 5, "lit", [], [9], [1, "b"], [1, 2, 3, 4, 5], [1, [2, 3, 4]], { type: :circle, r: 2 }, { type: :rect, w: 3, h: 4 },
 { name: "x", age: 3, y: 1 }, {}, nil, "abc", "xyz", :sym, 1.5].each { |v| puts m(v) }
config = { db: { user: "admin", pass: "x", ports: [1, 2, 3] } }
config => { db: { user:, ports: [first, *] } }
p user, first
p((1 in Integer), ("x" in Integer))
case [1, 2, 3, 42, 5, 6]
in [*pre, 40..50 => found, *post]
  p pre, found, post
end
expected = 5
case 5
in ^expected then puts "pinned"
end
case 7
in ^(3 + 4) then puts "pinned expr"
end
class Point
  attr_reader :x, :y
  def initialize(x, y) = (@x, @y = x, y)
  def deconstruct = [x, y]
  def deconstruct_keys(keys) = { x: x, y: y }
end
case Point.new(1, 2)
in Point(a, b) then p [a, b]
end
case Point.new(3, 4)
in Point(x:, y: 4 => why) then p [x, why]
end
case Point.new(3, 4)
in Point[a, 4] then p a
end
begin
  case 99
  in 1 then 1
  end
rescue NoMatchingPatternError => e
  p e.class, e.message
end
begin
  { a: 1 } => { b: }
rescue NoMatchingPatternKeyError => e
  p e.class, e.key
end
case { a: 1 }
in { a: 1, **nil } then puts "exact"
end
case { a: nil }
in { a: nil } then puts "nil value"
end
in_arr = [1, [2, 3]] in [_, [_, x]]
p in_arr, x
case ["a", 1]
in [String, Integer] | [Integer, String] then puts "either"
end
S = Struct.new(:l, :r)
case S.new(1, S.new(2, 3))
in [a, [b, c]] then p a + b + c
end
case { k: :v }
in { k: :a | :v => val } then p val
end
r = (case 1; in Integer then :yes end)
p r
case [1, 1]
in [a, ^a] then puts "same"
end
data = { users: [{ name: "A", roles: [:admin] }, { name: "B", roles: [] }] }
case data
in { users: [*, { name:, roles: [] }, *] } then puts name
end
case 5
in 0.. => n then p n
end
