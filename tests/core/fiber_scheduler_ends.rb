# What a scheduler sees when its thread ends, and what `process_wait` may answer.
class Plain
  def initialize(name) = @name = name
  def block(*) = nil
  def unblock(*) = nil
  def kernel_sleep(*) = nil
  def io_wait(*) = nil
  def fiber_interrupt(*) = nil
  def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)
  def process_wait(pid, flags) = Thread.new { Process::Status.wait(pid, flags) }.value
  def scheduler_close = puts("#{@name}: #{$!.inspect}")
end

Thread.new { Fiber.set_scheduler(Plain.new("quiet")) }.join
t = Thread.new do
  Thread.current.report_on_exception = false
  Fiber.set_scheduler(Plain.new("failing"))
  raise "Boom!"
end
begin
  t.join
rescue => e
  p e
end
Thread.new do
  Fiber.set_scheduler(Plain.new("handled"))
  begin
    raise "before"
  rescue
  end
end.join

Thread.new do
  Fiber.set_scheduler(Plain.new("waiting"))
  Fiber.schedule do
    pid = spawn("exit 3")
    p Process.wait(pid) == pid, $?.exitstatus
    begin
      Process.wait(-1)
    rescue SystemCallError => e
      p e.class
    end
    begin
      Process.wait2(pid)
    rescue SystemCallError => e
      p e.class
    end
  end
end.join
at_exit { p $! }
Fiber.set_scheduler(Plain.new("main"))
exit 4
