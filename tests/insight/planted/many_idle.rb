# Very many VMs that only wait: none of them is short of a core.
c = RubyVM::Channel.new(name: "end")
10_000.times { |i| RubyVM.fork(c, name: "v#{i}") { |c| c.recv; sleep } }
5.times { c << 1 }
sleep 0.5
puts RubyVM.report
exit!
