# A stream that a scheduler's hook closes through another one is closed, and closing it again is nothing.
require "socket"
class Closing
  def io_close(fd)
    Fiber.blocking { IO.for_fd(fd).close }
    true
  end
  def block(*) = nil
  def unblock(*) = nil
  def io_wait(io, events, timeout) = events
  def kernel_sleep(*) = nil
  def close = nil
  def fiber(&block)
    f = Fiber.new(blocking: false, &block)
    f.resume
    f
  end
end
a, b = UNIXSocket.pair
r, w = IO.pipe
Thread.new do
  Fiber.set_scheduler(Closing.new)
  Fiber.schedule { [a, r].each(&:close) }
end.join
p a.closed?, r.closed?, a.close, r.close
begin
  b.write("x")
rescue => e
  p e.class
end
b.close
w.close
