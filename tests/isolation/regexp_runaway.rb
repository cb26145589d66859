# A VM in a match that never ends is ended by kill and by its limit of CPU time; the others go on.

up = RubyVM::Channel.new
vm = RubyVM.fork { up << :ready; /\A((a|a)+\2?)*b\z/.match("a" * 120 + "cb") }
p up.recv
vm.kill
begin
  vm.join
rescue RubyVM::Error => e
  p e.class
end

vm = RubyVM.fork(cpu_limit: 0.05) { /\A((a|a)+\2?)*b\z/.match("a" * 120 + "cb") }
begin
  vm.join
rescue RubyVM::Error => e
  p e.class, e.message
end

# Several at once, on fewer workers, beside one that works.
vms = 20.times.map { RubyVM.fork { /\A((a|a)+\2?)*b\z/.match("a" * 120 + "cb") } }
busy = RubyVM.fork { (1..200).sum { |i| "x#{i}y"[/\d+/].to_i } }
p busy.value
vms.each(&:kill)
p vms.count { |v| begin; v.join; false; rescue RubyVM::Error; true; end }
