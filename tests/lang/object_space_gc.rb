p GC.start
p GC.count.class
p GC.stat.class
p GC.stat(:count).class
p GC.disable
p GC.disable
p GC.enable
p GC.enable
class Tracked; end
list = Array.new(5) { Tracked.new }
p ObjectSpace.each_object(Tracked).count, ObjectSpace.each_object(Class).include?(Tracked)
GC.start
p list.size, ObjectSpace.garbage_collect
