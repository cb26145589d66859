# Without --gc=stress.
# What calls that have ended left in registers keeps nothing alive: the native stack may hold one of them, but not the Array.
class Big; end

def deep(depth, &) = depth == 0 ? yield : deep(depth - 1, &)
def make = Array.new(200) { Big.new }.size

[0, 1, 3, 10, 100, 1000].each do |depth|
  deep(depth) { make }
  GC.start
  p [depth, ObjectSpace.each_object(Big).count < 100]
end
