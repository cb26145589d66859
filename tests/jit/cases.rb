# `case` over Integers, which are looked for by halves: what is found, what is not, and what `===` means when it changes.
def small(v)
  case v
  when 1 then :one
  when 5, 7, 5 then :five
  when -3 then :minus
  when 32767 then :most
  when -32768 then :least
  when 7 then :never
  else :none
  end
end
def mixed(v)
  case v
  when 0 then :zero
  when 1, 2 then :few
  when 3 then :three
  when 4, String, 5 then :string
  when 6..9 then :range
  when 2 then :never
  when 10 then :ten
  end
end
def result(v) = case v when 1 then 10 when 2 then 20 when 3 then 30 when 4 then 40 when 5 then return :left end
def counted(n)
  s = Hash.new(0)
  i = 0
  while i < n
    s[small(i % 11 - 3)] += 1
    s[mixed(i % 12)] += 1
    s[result(i % 7)] += 1
    i += 1
  end
  s
end
def many = @many ||= eval("->(v) { case v\n#{(0...300).map { |i| "when #{i * 3} then #{i}" }.join("\n")}\nelse :no end }")

OTHERS = [1.0, 5.0, 0.5, nil, "x", :a, 2**70, -2**70, 2**61, 1r, true, Object.new, 6.5, 10.0, [1]]
p [-32769, -32768, -3, 0, 1, 5, 6, 7, 32766, 32767, 32768].map { |v| small(v) }, (-1..11).map { |v| mixed(v) }, (0..6).map { |v| result(v) }
p OTHERS.map { |v| [small(v), mixed(v), result(v)] }
p counted(5000)
p (0..900).sum { |v| many.(v).then { |r| r == :no ? 0 : r } }, many.(899), many.(897), many.(-1), many.(nil), many.(3.0)
def subjects(n) = n.times.sum { |i| { one: 1, five: 5 }.fetch(small(i % 3 == 0 ? 5.0 : i % 3), 0) }
p subjects(3000), counted(100)
def lines(v)
  case v
  when 1 then raise "one"
  when 2 then raise "two"
  when 3
    raise "three"
  when 4 then v.nothing
  end
rescue => e
  e.backtrace_locations[0].lineno
end
p (1..4).map { |v| lines(v) } * 3

# Traces see the comparisons.
seen = []
TracePoint.new(:c_call) { |t| seen << t.method_id if t.method_id == :=== }.enable { small(7); small(1) }
p seen.size

class Integer
  alias as_ever ===
  def ===(o) = o == 5 ? true : as_ever(o)
end
p small(5), small(1), small(2), mixed(5), counted(100)
class Integer
  alias === as_ever
end
p small(5), small(2), mixed(5)
