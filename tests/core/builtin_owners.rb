# Which module a builtin's method belongs to; and what clocks say of numbers that are none.
p 5.method(:hash).owner, 5.method(:positive?).owner, -5.method(:negative?).owner, Integer.method_defined?(:positive?, false)
p 5.method(:positive?).call, 5.hash == 5.method(:hash).call, Set.instance_method(:count).owner, Set[1, 2].method(:first).unbind.bind_call(Set[3])
class Numeric
  def positive? = :patched
end
p 5.positive?, 2.5.positive?
[[:clock_gettime, :foo], [:clock_getres, :foo], [:clock_gettime, 99]].each do |a|
  Process.send(*a)
rescue Errno::EINVAL => e
  puts e.message
end
# A String has a `dup` of its own.
p "".method(:dup).owner, "".method(:clone).owner, [].method(:dup).owner
