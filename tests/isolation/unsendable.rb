# What can't be sent raises TypeError with the way to it, and nothing is sent.
ch = RubyVM::Channel.new
lock = Mutex.new
Holder = Struct.new(:held)
class Box
  def initialize(held) = @held = held
end
part = [Thread.current]
{
  "alone" => lock,
  "in an Array" => [1, [lock]],
  "in a Hash" => { io: [lock] },
  "as a key" => { lock => 1 },
  "as a default" => Hash.new(lock),
  "in a variable" => [Box.new(lock)],
  "in a Struct" => Holder.new([nil, lock]),
  "in a Set" => Set[lock],
  "in a Range's end" => [Box.new(nil), { "a" => Box.new(Box.new(part)) }],
  "captured" => { handler: -> { lock } },
  "in a block's block" => -> { [1].each { lock } },
  "self of a block" => Box.new(lock).instance_eval { -> { @held } },
  "receiver" => lock.method(:lock),
  "Fiber" => [Fiber.new {}],
  "Queue" => [Queue.new],
  "ConditionVariable" => [ConditionVariable.new],
  "Monitor" => [Monitor.new],
  "Binding" => [binding],
  "WeakMap" => [ObjectSpace::WeakMap.new],
  "singleton" => [Object.new.tap { |o| def o.x = 1 }],
  "extended" => ["s".dup.extend(Comparable)],
  "singleton of an Array" => [[].tap { |o| def o.x = 1 }],
}.each do |name, value|
  ch << value
  puts "#{name}: sent"
rescue TypeError => e
  puts "#{name}: #{e.message}"
end
[Class.new, Class.new.new, Struct.new(:a).new(1), Module.new].each do |value|
  ch << [value]
rescue TypeError => e
  puts e.message.gsub(/0x\h+/, "0x")
end
deep = [lock]
10_000.times { deep = [deep] }
begin
  ch << deep
rescue TypeError => e
  puts e.message
end
ch << :nothing_before_me
p ch.recv, ch.size
