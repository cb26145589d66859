p GC.start, GC.count.class, GC.stat.class, GC.stat(:count).class
p GC.disable, GC.disable, GC.enable, GC.enable
class Tracked; end
list = Array.new(5) { Tracked.new }
p ObjectSpace.each_object(Tracked).count, ObjectSpace.each_object(Class).include?(Tracked)
GC.start
p list.size, ObjectSpace.garbage_collect
