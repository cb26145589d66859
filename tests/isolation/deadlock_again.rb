# Every wait that nothing can end is reported, also the one that comes right after a report, while another VM waits all along.
c = RubyVM::Channel.new
RubyVM.fork { c.recv rescue nil }
sleep 0.01
5.times do
  c.recv
rescue Exception => e
  p e.class, e.message
end
