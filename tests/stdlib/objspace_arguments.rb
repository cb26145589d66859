# What a program was given stays its own when its heap is looked at: $FILENAME would open it.
require "objspace"
ARGV.replace(%w[no_file])
ObjectSpace.reachable_objects_from_root
ObjectSpace.dump_all(output: :string)
p ARGV
