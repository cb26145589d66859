# What is put off until something blocks comes before a write.
waits = true
q = Thread::Queue.new
t = Thread.new do
  Thread.current.report_on_exception = false
  Thread.handle_interrupt(RuntimeError => :on_blocking) do
    q << true
    nil while waits
    puts "not written"
  end
end
q.pop
t.raise RuntimeError, "first"
waits = false
p((t.join rescue $!))
