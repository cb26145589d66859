require "objspace"
ObjectSpace.trace_object_allocations_start; s = "abc"+"d"; p ObjectSpace.allocation_sourceline(s)
ObjectSpace.trace_object_allocations_stop
ObjectSpace.trace_object_allocations { s = "abc"+"d"; p [ObjectSpace.allocation_sourceline(s), ObjectSpace.allocation_method_id(s)] }
def m; o = nil; ObjectSpace.trace_object_allocations { o = Object.new; p ObjectSpace.allocation_sourceline(o), ObjectSpace.allocation_method_id(o), ObjectSpace.allocation_class_path(o), ObjectSpace.allocation_generation(o).class}; end
m
ObjectSpace.trace_object_allocations {
 a = [1]
 p ObjectSpace.allocation_sourceline(a), ObjectSpace.allocation_sourcefile(a) == __FILE__ }
ObjectSpace.trace_object_allocations_start
b = [1].map { |x| x.to_s }
p ObjectSpace.allocation_sourceline(b), ObjectSpace.allocation_sourceline(b[0])
ObjectSpace.trace_object_allocations_stop
