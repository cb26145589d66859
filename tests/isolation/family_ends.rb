# Texts of exceptions that ended VMs count for the limited one that keeps the handles; so do long Arrays that forks and images share, once.
require_relative "support/family"

before = peak
puts "-- messages of 2 MB, with the reports of the ends"
# Whether a child or the one that keeps the handles meets the limit first is a matter of time.
outcome(memory_limit: 32 << 20) do
  vms = []
  100.times { vms << RubyVM.fork { raise "x" * 2_000_000 }.tap { |vm| vm.join rescue nil } }
end
p peak - before < 80
p(outcome(memory_limit: 32 << 20) { 40.times { RubyVM.fork { raise "x" * 1_000_000 }.join rescue nil }; :fine })

puts "-- an Array of numbers that is forked along: whoever writes has its own"
$list = Array.new(1000) { |i| i }
$frozen = Array.new(1000, nil).freeze
class Numbers < Array; end
$own = Numbers.new(1000) { |i| i * 0.5 }
$own.instance_variable_set(:@name, :own)
image = RubyVM::Image.capture
vm = RubyVM.fork { $list << 1; $list[0] = "a"; [$list.size, $list.first, $frozen.frozen?, $own.class, $own.instance_variable_get(:@name), $own.last] }
$list.push("here")
$list[1] = [2]
p vm.value, $list.size, $list.values_at(0, 1, 999, 1000)
p RubyVM.fork { $list.shift; [$list.size, $list.first, $list.last] }.value
p image.spawn { [$list.size, $list.sum, $frozen.size] }.value
p image.spawn { GC.start; $list.map! { |i| i + 1 }; $list.sum }.value
p image.spawn { ($frozen << 1) rescue $!.class }.value
$list.clear
$list.concat((1..600).to_a)
p RubyVM.fork { $list.pop; RubyVM.fork { $list.sum }.value + $list.size }.value, $list.sum
