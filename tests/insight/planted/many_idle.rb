# Very many VMs that only wait: none of them is short of a core.
c = RubyVM::Channel.new(name: "end")
vms = Array.new(2_000) { |i| RubyVM.fork(c, name: "v#{i}") { |c| c.recv } }
sleep 0.6
2_000.times { c << 1 }
vms.each(&:join)
