# Each level's ensure overflows again: a chain of as many exceptions as the stack is deep, each with its backtrace.
def deeper = deeper
def deep
  deep
ensure
  deeper
end
begin
  Fiber.new { deep }.resume
rescue SystemStackError => e
  puts e.message
end
