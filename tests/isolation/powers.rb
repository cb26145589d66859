# Who may do what with a VM: the table of docs/life.md, a line for each method. Then where handles come from.
METHODS = %i[kill start join value report status monitor unmonitor id name alive? inspect ==]

# What a method gives, with a VM that ends by itself when `go` gets something.
def try(method, vm, go)
  case method
  when :kill then vm.kill(grace: 0) && :asked
  when :start then vm.start
  when :join then go << 1; vm.join == vm
  when :value then go << 1; vm.value
  when :report then go << 1; sleep 0.001 while vm.alive?; vm.report[:kind]
  when :status then go << 1; sleep 0.001 while vm.alive?; vm.status
  when :monitor then c = RubyVM::Channel.new; vm.monitor(c); go << 1; c.recv
  when :unmonitor then vm.unmonitor(RubyVM::Channel.new) == vm
  when :id then vm.id.class
  when :inspect then vm.inspect
  when :name then vm.name
  when :alive? then vm.alive?
  when :== then vm == vm.dup
  end
rescue RubyVM::PermissionError
  "refused"
rescue RubyVM::Error => e
  "(#{e.message})"
end

def target(go) = RubyVM.fork(go, name: "t") { |c| c.recv; 42 }

HOLDERS = {
  maker: ->(m, t, go) { try(m, t, go) },
  ancestor: lambda do |m, _, go|
    ready = RubyVM::Channel.new
    RubyVM.fork(go, ready) { |c, r| target(c); r << 1; sleep }
    ready.recv
    found = RubyVM.list.find { |v| v.name == "t" }
    try(m, found, go)
  end,
  sent: ->(m, t, go) { RubyVM.fork(t, go) { |v, c| try(m, v, c) }.value },
  found: ->(m, t, go) { $t = t; RubyVM.fork(go) { |c| try(m, $t, c) }.value },
  stranger: ->(m, t, go) { RubyVM.fork(go) { |c| (v = RubyVM.list.find { |v| v.name == "t" }) ? try(m, v, c) : "-" }.value },
}

METHODS.each do |m|
  cells = HOLDERS.map do |who, job|
    go = RubyVM::Channel.new
    t = who == :ancestor ? nil : target(go)
    "#{who} #{job.call(m, t, go)}"
  ensure
    go << 1
    kind = t && (t.join rescue 0) && t.report[:kind]
    raise "#{m} by #{who}: #{kind}" if kind && (kind == :killed) != (m == :kill && %i[maker sent].include?(who))
    RubyVM.list.each { |v| v.kill(grace: 0) unless v == RubyVM.current }
    sleep 0.001 until RubyVM.list.size == 1
  end
  puts "#{m}: #{cells.join(", ")}"
end

puts "-- self"
p(%i[report status id name alive? ==].to_h { |m| [m, RubyVM.fork(name: "me") { m == :id ? RubyVM.current.id.class : m == :== ? RubyVM.current == RubyVM.current : RubyVM.current.public_send(m) }.value] })
p((RubyVM.fork(name: "me") { RubyVM.current.kill(grace: 0); sleep }.value rescue $!.message))
p((RubyVM.fork(name: "me") { RubyVM.current.start }.value rescue $!.cause.message))
c = RubyVM::Channel.new
RubyVM.fork(c) { |c| RubyVM.current.monitor(c) }.join
p c.recv

# What is sent keeps its power, wherever it stands in what is sent.
puts "-- sent"
Box = Struct.new(:vm)
class Holder
  attr_accessor :vm
end
$sleeper = RubyVM.fork(name: "sleeper") { sleep }
holder = Holder.new
holder.vm = $sleeper
SENT = { array: [[$sleeper]], hash: { a: $sleeper }, key: { $sleeper => 1 }, struct: Box.new($sleeper), object: holder, set: Set[$sleeper], method: $sleeper.method(:kill) }
def vm_in(x)
  case x
  when Array then vm_in(x[0])
  when Hash then x.keys.grep(RubyVM)[0] || x.values[0]
  when Box, Holder then x.vm
  when Set then x.to_a[0]
  when Method then x.receiver
  else x
  end
end
SENT.each { |name, x| puts "#{name}: #{RubyVM.fork(x) { |y| vm_in(y).power? }.value}" }
puts "message: #{RubyVM.fork(c) { |c| c.recv.power? }.tap { c << $sleeper }.value}"
puts "start: #{RubyVM.new("s", "-e", "RubyVM::ARGV[1] << RubyVM::ARGV[0].power?").start($sleeper, c) && c.recv}"
puts "value: #{RubyVM.fork { RubyVM.fork(name: "inner") { sleep } }.value.then { |v| [v.power?, v.kill(grace: 0).name] }}"
puts "exception: #{(RubyVM.fork { e = RuntimeError.new("x"); e.instance_variable_set(:@vm, RubyVM.current); raise e }.value rescue $!.cause.instance_variable_get(:@vm).power?)}"
puts "image: #{RubyVM::Image.capture.spawn($sleeper) { |v| v.power? }.value}"
puts "ractor: #{Ractor.new($sleeper) { |v| v.power? }.value} #{Ractor.new { Ractor.receive.power? }.send($sleeper).value}"
puts "through another: #{RubyVM.fork($sleeper) { |v| RubyVM.fork(v) { |w| w.power? }.value }.value}"
puts "weak stays weak: #{RubyVM.fork { RubyVM.fork($sleeper) { |w| w.power? }.value }.value} #{RubyVM.fork { $sleeper }.value.power?}"

# What a fork finds in its copy of the program has none.
puts "-- found"
CONSTANT = $sleeper
FROZEN = Ractor.make_shareable([$sleeper])
class Holder
  @vm = @@vm = $sleeper
  def self.vms = [@vm, @@vm]
end
Thread.current[:vm] = $sleeper
outer = $sleeper
maker = RubyVM.current
IMAGE = RubyVM::Image.capture
checks = lambda do
  {
    global: $sleeper, constant: CONSTANT, frozen: FROZEN[0], class_variables: Holder.vms, outer: outer, local: Thread.current[:vm], struct: SENT[:struct].vm,
    set: SENT[:set].to_a, method: SENT[:method].receiver, maker: maker,
  }.transform_values { |v| [*v].map(&:power?) }
end
p RubyVM.fork(&checks).value
p IMAGE.spawn(&checks).value == RubyVM.fork(&checks).value
p Ractor.new { Ractor.main.instance_variable_get(:@__vm).power? }.value
p RubyVM.fork { IMAGE.spawn { CONSTANT.power? }.value }.value
p RubyVM.fork(IMAGE) { |i| i.spawn { maker.power? }.value }.value
p RubyVM.fork { ObjectSpace.each_object(RubyVM).select(&:power?).reject { |v| v == RubyVM.current } }.value
p((RubyVM.fork { maker.kill(grace: 0) }.value rescue $!.cause.then { |e| [e.class, e.message] }))
p RubyVM.fork { [maker == outer, maker.name, maker.alive?, outer.inspect, maker.dup.power?, maker.clone.power?] }.value
p RubyVM.fork { Marshal.dump(outer) rescue $!.class }.value

# An attack.
puts "-- attack"
siblings = Array.new(3) { |i| RubyVM.fork(name: "sibling #{i}") { sleep } }
ATTACK = <<~'RUBY'
  RubyVM.list.each { |v| v.kill(grace: 0) unless v == RubyVM.current }
  ObjectSpace.each_object(RubyVM) { |v| v.kill(grace: 0) unless v == RubyVM.current rescue 0 }
  ObjectSpace.each_object(Ractor) { |r| r.__vm.kill(grace: 0) unless r.__vm == RubyVM.current rescue 0 }
  Dir.children("/proc/self/task").each { |t| Process.kill(:URG, t.to_i) rescue 0 }
  [0, -1, -Process.getpgrp].each { |n| Process.kill(:KILL, n) rescue puts $!.class }
  Process.kill(:KILL, $$)
  sleep
RUBY
p((RubyVM.fork(memory_limit: 48 << 20) { eval(ATTACK) }.join rescue $!.message))
p((RubyVM.new("new", "-e", ATTACK, memory_limit: 48 << 20).start.join rescue $!.message))
p siblings.map(&:alive?), $sleeper.alive?

# The name "main" is a name like any other, and a maker's end passes its VMs on to the next.
puts "-- line"
p((RubyVM.new("main", "-e", "Process.kill(:KILL, 0)").start.join rescue $!.message[/Errno::EPERM/]))
RubyVM.fork { RubyVM.fork(name: "orphan") { sleep } }.join
orphan = RubyVM.list.find { |v| v.name == "orphan" }
p orphan.power?, RubyVM.fork { RubyVM.list.map(&:name) }.value
p((orphan.kill(grace: 0).join rescue $!.message))
