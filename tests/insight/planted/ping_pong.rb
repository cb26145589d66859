# Two VMs send each other one message, and do nothing else.
ask, answer = RubyVM::Channel.new(name: "ask"), RubyVM::Channel.new(name: "answer")
w = RubyVM.fork(ask, answer, name: "echo") { |ask, answer| ask.each { |n| answer << n } }
300_000.times { |n| ask << n; answer.recv }
ask.close
w.join
