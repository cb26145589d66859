# objspace/trace: `p` says where an object was allocated.
require "objspace"

module Kernel
  remove_method :p
  define_method(:p) do |*objects|
    objects.each do |object|
      file, line = ObjectSpace.allocation_sourcefile(object), ObjectSpace.allocation_sourceline(object)
      puts file ? "#{object.inspect} @ #{file}:#{line}" : object.inspect
    end
    objects.size < 2 ? objects.first : objects
  end
  private :p
end

ObjectSpace.trace_object_allocations_start
warn "objspace/trace is enabled"
