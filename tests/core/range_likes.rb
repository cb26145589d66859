# What has a beginning and an end is taken for a Range where an index is; and Ranges whose ends say more than numbers.
require "delegate"
Ends = Struct.new(:begin, :end, :without) do
  def exclude_end? = without
end
def t
  r = yield
  p r
rescue => error
  puts "#{error.class}: #{error.message[0, 100]}"
end

t { "abcd"[Ends.new(1, 2)] }
t { "abcd"[Ends.new(1, 2, true)] }
t { [1, 2, 3, 4][Ends.new(1, 2)] }
t { a = [1, 2, 3, 4]; a[Ends.new(1, 2)] = 9; a }
t { a = [1, 2, 3, 4]; [a.slice!(Ends.new(1, 2)), a] }
t { a = +"abcd"; a[Ends.new(1, 2)] = "xx"; a }
t { [1, 2, 3, 4].fill(0, Ends.new(1, 2)) }
t { [1, 2, 3, 4].values_at(Ends.new(1, 2)) }
t { "abcd".byteslice(Ends.new(1, 2)) }
t { rand(Ends.new(1, 1)) }
t { 0b1011[Ends.new(0, 1)] }
t { 5.clamp(Ends.new(0, 1)) }
t { [1, 2].first(Ends.new(0, 1)) }

text = Object.new
def text.to_str = "a"
def text.<=>(other) = "a" <=> other
t { (text.."c").to_a }
t { (text..).first(3) }
t { (SimpleDelegator.new("9").."10").to_a }
broken = Object.new
def broken.<=>(_) = raise("no order")
t { broken..3 }
t { (..2**62).reverse_each.first(2) }
t { (..-2**64).reverse_each.first(2) }
t { (nil..10).last(3) }
t { (nil...2**64).last(2) }
t { (nil..10).last(-1) }
t { (1..).overlap?("a"..) }
t { (..1).overlap?(.."a") }
t { (1..).overlap?(2..) }
t { (Rational(1, 2)..Rational(9, 4)).bsearch }
step = Struct.new(:by)
t { (0..4).step(step.new(1)).class }
t { (0..4).step("x") {} }
