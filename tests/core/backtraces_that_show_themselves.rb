# What asks for the backtrace of the running thread or fiber is its innermost level.
def levels = [Thread.current.backtrace, Fiber.current.backtrace, Thread.current.backtrace(1), Fiber.current.backtrace(1, 1), Thread.current.backtrace_locations, caller(0)]
puts levels.map { |list| list.map { |level| level.to_s[/'.*/] }.inspect }
puts Fiber.new { levels }.resume.map { |list| list.map { |level| level.to_s[/'.*/] }.inspect }
puts Thread.new { levels }.value.map { |list| list.map { |level| level.to_s[/'.*/] }.inspect }
raised = (raise "x" rescue $!)
p raised.backtrace.size, raised.backtrace_locations.size

p Kernel.instance_method(:initialize_clone).arity
# A handler of a signal may ask for what is there.
Ractor.store_if_absent(:there) { 1 }
trap(:USR1) { p Ractor.store_if_absent(:there) { 2 } }
Process.kill(:USR1, $$)
sleep 0.1
