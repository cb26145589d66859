# What threads of earlier jobs, or traps, raise in the main thread of a pool's VM comes to a job, and no value goes to another one.
def wrong(values) = values.each_with_index.count { |value, i| value != i + 1 && !(RubyVM::Pool::JobError === value) }
def told(values) = values.grep(Exception).map { |e| e.message[/: (.*)/, 1] }.uniq

pool = RubyVM::Pool.new(size: 2)
late = ->(rounds, &job) { rounds.times.map { pool.map(1..300, errors: :return, &job) } }
rounds = late.(30) do |n|
  Thread.new { Thread.current.report_on_exception = false; Thread.current.abort_on_exception = true; sleep 0.0001; raise "late" } if n % 50 == 0
  n
end
p rounds.sum { wrong(it) }, rounds.flat_map { told(it) }.uniq - ["late (RuntimeError)"]
rounds = late.(30) do |n|
  main = Thread.current
  Thread.new { sleep 0.0001; main.raise(IOError, "late") } if n % 50 == 0
  n
end
p rounds.sum { wrong(it) }, rounds.flat_map { told(it) }.uniq - ["late (RuntimeError)", "late (IOError)"]
rounds = late.(10) do |n|
  $trap ||= trap(:USR1) { raise "trapped" }
  Thread.new { sleep 0.0001; Process.kill(:USR1, $$) } if n % 50 == 0
  n
end
p rounds.sum { wrong(it) }, rounds.flat_map { told(it) }.uniq - ["trapped (RuntimeError)", "late (IOError)"]
pool.close

# One that comes while the VM waits comes to the next job; what ends a VM ends it.
pool = RubyVM::Pool.new(size: 1)
pool.map([1]) { main = Thread.current; Thread.new { sleep 0.05; main.raise("waited") }; 1 }
sleep 0.2
p pool.map([1, 2], errors: :return) { it }.map { Exception === it ? it.message : it }
pool.map([1]) { Thread.new { sleep 0.05; Thread.main.kill }; 1 }
sleep 0.2
p pool.map([1, 2]) { it }, pool.report.restarts
pool.close

# A limit of time counts for what it takes to open a job, too.
class Slow
  def marshal_dump = 1
  def marshal_load(_) = sleep
end
pool = RubyVM::Pool.new(size: 1, job_timeout: 0.3)
p (pool.submit(Slow.new) { 1 }.value rescue $!), pool.submit { 2 }.value
p pool.map([1, 2, Slow.new, 3], errors: :return) { 7 }
pool.close
# What is given back is not opened by the pool.
class Hang
  attr_reader :number
  def initialize(number) = @number = number
  def marshal_dump = @number
  def marshal_load(number)
    @number = number
    puts "opened here" unless RubyVM::Pool.index
    sleep if number % 5 == 0
  end
end
pool = RubyVM::Pool.new(size: 2, job_timeout: 0.2)
2.times { |tries| p pool.map((1..20).map { Hang.new(it) }, errors: :return, retry: tries) { it.number }.map { Exception === it ? it.class : it } }
pool.close
