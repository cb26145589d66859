# Interrupts of those who hand out the jobs of a pool, while a job is packed: no job is lost, none is sent twice, and an interrupt is told as what it is.
class Slow
  HERE, GO = Thread::Queue.new, Thread::Queue.new
  class << self
    attr_accessor :watched
  end
  def initialize(number) = @number = number
  attr_reader :number

  def marshal_dump
    if self.class.watched == Thread.current
      HERE << true
      GO.pop
    end
    @number
  end

  def marshal_load(number) = @number = number
end
class Boo < StandardError; end

# Calls that are killed at any moment: those after them are right. (By chance: what is cut in two shows in one call of some thousands.)
pool = RubyVM::Pool.new(size: 2)
random = Random.new(1)
by = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 1
wrong = 0
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < by
  killed = Thread.new { pool.map(1..40) { |n| n } }
  sleep(random.rand * 0.001)
  killed.kill.join
  wrong += 1 if pool.map(1..40) { |n| n } != (1..40).to_a
end
p wrong

# An error from outside is no error of a job.
[true, false].each do |ordered|
  caller = Thread.new do
    Thread.current.report_on_exception = false
    Slow.watched = Thread.current
    pool.map([Slow.new(1)], ordered:) { |slow| slow.number }
  end
  Slow::HERE.pop
  caller.raise(Boo, "from outside")
  begin
    caller.value
  rescue Exception => e
    p e
  end
end
future = Thread.new do
  Slow.watched = Thread.current
  pool.submit(Slow.new(2)) { |slow| slow.number }
end
Slow::HERE.pop
future.kill.join
Slow.watched = nil
p pool.submit(Slow.new(3)) { |slow| slow.number }.value
p pool.map([Slow.new(4), Object.new, proc { }.binding], errors: :return) { |o| o.class }.map { |v| RubyVM::Pool::JobError === v ? v.cause.class : v }
pool.close

# A subclass.
class Own < RubyVM::Pool; end
p Own.open(size: 1) { |own| own.map([1]) { _1 } }
