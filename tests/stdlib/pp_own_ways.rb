# Kernel#pp without `require "pp"` asks objects for the way they print themselves.
class Own
  def inspect = "short"
  def pretty_print(q) = q.group(1, "<own", ">") { q.breakable; q.text "way" }
end
p pp(Own.new).class
p pp(Own.new, [Own.new]).map(&:class)
pp [[Own.new], *(1..30).map { |n| n * 1000 }]
p pp
# Needs the standard library.
