# Two VMs compute in turns, each while the other waits for it.
q, r = RubyVM::Channel.new(name: "q"), RubyVM::Channel.new(name: "r")
w = RubyVM.fork(q, r, name: "worker") { |q, r| q.each { |m| n = 0; n += 1 while n < 40_000; r << m } }
3000.times { |i| q << i; r.recv; n = 0; n += 1 while n < 40_000 }
q.close
w.join
