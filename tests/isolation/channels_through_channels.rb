ask = RubyVM::Channel.new
server = RubyVM.new("ruby", "-e", <<~'RUBY')
  ask, = RubyVM::ARGV
  while (reply, number = ask.recv)
    reply << number * 2
  end
RUBY
server.start(ask)
clients = Array.new(3) do |i|
  vm = RubyVM.new("ruby", "-e", <<~'RUBY')
    ask, out, i = RubyVM::ARGV
    mine = RubyVM::Channel.new
    sum = 0
    100.times do |k|
      ask << [mine, i * 1000 + k]
      sum += mine.recv
    end
    out << [i, sum]
  RUBY
  out = RubyVM::Channel.new
  vm.start(ask, out, i)
  [vm, out]
end
clients.each { |vm, out| p out.recv; vm.join }
ask << nil
server.join
c = RubyVM::Channel.new
c << c
p c.recv.class
