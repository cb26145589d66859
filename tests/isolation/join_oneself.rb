# A VM that waits for its own end would wait for ever: an error, as of a thread that joins itself.
def refused
  yield
rescue => e
  p e.class, e.message
end
refused { RubyVM.current.join }
refused { RubyVM.current.value }
refused { RubyVM.current.join(0.001) }
refused { Thread.new { RubyVM.current.join }.tap { _1.report_on_exception = false }.join }
refused { RubyVM.list.find { |v| v == RubyVM.current }.value }
# One that got its own handle from outside.
c = RubyVM::Channel.new
vm = RubyVM.fork(c) { |c| me = c.recv; begin; me.value; rescue => e; e.message; end }
c << vm
p vm.value
# Others may wait for it.
p RubyVM.fork(RubyVM.current) { |main| main.join(0.001) }.value
