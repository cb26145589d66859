# Descriptors that the interpreter lives by are nobody's: no stream is made of one, in no VM, and what depends on them goes on.
refused = lambda do
  3.upto(60).map do |fd|
    IO.for_fd(fd).close
    :closed
  rescue Errno::EBADF
    nil
  rescue ArgumentError => e
    e.message
  end.compact.tally
end
3.upto(60).each { |fd| IO.for_fd(fd, autoclose: false) rescue nil }
said = refused.call
p said.keys.include?("The given fd is not accessible because RubyVM reserves it"), said.keys - [:closed]
%i[new for_fd].each { |name| p 3.upto(20).any? { |fd| IO.public_send(name, fd) rescue $!.class == ArgumentError } }
sleep 0.05
trap(:USR1) { puts "signal" }
system("kill -USR1 #{$$}")
sleep 0.1
r, w = IO.pipe
t = Thread.new { r.gets }
sleep 0.05
w.puts "woken"
p t.value
