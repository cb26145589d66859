# Implicit conversions ask method_missing when nothing says no: neither respond_to? nor respond_to_missing? of the program's.
class Proxy < BasicObject
  def method_missing(name, *args)
    case name
    when :to_str then "str"
    when :to_ary then [9, 8]
    when :to_proc then ->(x) { x * 2 }
    when :to_hash then { k: 1 }
    when :to_int then 2
    when :coerce then [args[0], 10]
    else ::Kernel.raise(::NoMethodError, "no #{name}")
    end
  end
end
class Quiet
  def method_missing(name, *) = name == :to_str ? "quiet" : super
end
class Denies < Quiet
  def respond_to_missing?(*) = false
end
class Allows
  def respond_to_missing?(name, all) = name == :to_ary
  def method_missing(name, *) = name == :to_ary ? [:allowed] : super
end
class Fails
  def method_missing(name, *) = raise(ArgumentError, "failed in #{name}")
  def respond_to_missing?(name, all) = name == :to_ary
end
def t
  v = yield
  p v.is_a?(Hash) ? v.to_a : v
rescue => e
  puts "#{e.class}: #{e.message[/\A[^\n]*/].sub(/(for|of) .*/, "")}"
end
def kw(**k) = k
pr = Proxy.new
t { "a" + pr }
t { [1] + pr }
t { [1, 2].map(&pr) }
t { [pr].flatten }
t { [[1, pr]].flatten }
t { [pr, "x"].join("-") }
t { a, b = pr; [a, b] }
t { [pr].each { |a, b| p [a, b] }; 1 }
t { kw(**pr) }
t { [1, 2, 3][pr] }
t { 1 + pr }
t { Array(pr) }
t { {}.merge(pr) }
t { "a" <=> pr }
t { "a" == pr }
[Quiet, Denies, Allows, Fails].each do |c|
  o = c.new
  t { "a" + o }
  t { [1] + o }
  t { [o].flatten.size }
end
t { case pr; in [a, b] then 1 end }
t { case Quiet.new; in { a: } then 1 else 2 end }
