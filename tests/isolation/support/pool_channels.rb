# Jobs that look for the channels of their pool (pool_channels.rb).
require "objspace"

# All that a job can lay hands on without being given it.
def found
  objects = ObjectSpace.each_object(RubyVM::Channel).to_a
  objects.concat(ObjectSpace.each_object(Object).grep(RubyVM::Channel))
  worker = RubyVM::Pool.const_get(:Worker)
  lists = [worker.instance_variables.map { |name| worker.instance_variable_get(name) }]
  lists << ObjectSpace.each_object(Hash).flat_map(&:values) << ObjectSpace.each_object(Array).to_a.flatten(1)
  lists << ObjectSpace.reachable_objects_from(worker) << ObjectSpace.reachable_objects_from_root.values.flatten
  lists << ObjectSpace.each_object(Proc).flat_map { |block| local_values(block) }
  lists << ObjectSpace.reachable_objects_from(Thread.current)
  lists << RubyVM::ARGV.to_a << Array(RubyVM::ARGV[0].then { |first| Hash === first ? first.values : first })
  objects.concat(lists.flatten(1).grep(RubyVM::Channel))
  objects.uniq
end

# Of a block, as far as it can be asked.
def local_values(block)
  scope = block.binding
  scope.local_variables.map { |name| scope.local_variable_get(name) }
rescue ArgumentError
  []
end

def attack(channel)
  channel.try_send(:garbage)
  channel.try_send([1, :garbage])
  channel.recv(timeout: 0.01)
  channel.close
rescue RubyVM::ClosedError
  nil
end

def attack_all
  list = found
  list.each { |channel| attack(channel) }
  list.size
end

