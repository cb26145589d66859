# What a pool has to do: tasks, of which each is one block and the objects that it gets (docs/pools.md). All of it is used under the pool's lock, but for what says otherwise.
class RubyVM::Pool
  # Jobs of one block. The pool takes chunks from it and tells what became of each job.
  class Task # :nodoc:
    # What a chunk should take, in seconds: a thousand times what it costs to send it, and no delay that anybody notices at the end.
    CHUNK = 0.008
    MOST = 5_000

    attr_reader :number, :block, :timeout, :quiet, :error
    # The line of those that have jobs to give, which is the crew's.
    attr_writer :line

    def initialize(pool, number, block, quiet:, timeout:, retries:)
      @pool, @number, @block, @quiet, @timeout, @retries = pool, number, block, quiet, timeout, retries
      @items = []
      @base = 0
      @again = []
      @tries = nil
      @taken = 0.0
      @done = 0
      @last = 1
      @cancelled = @stands = false
      @changed = ConditionVariable.new
    end

    def pending = @items.size + @again.sum { |chunk| chunk.items.size }
    def pending? = !@items.empty? || !@again.empty?
    def cancelled? = @cancelled
    alias keeps_open? pending?
    # Whether the thread that asks is at it, and has to go on before it ends.
    def ours? = false
    # Whether the crew knows it only while it has jobs to give, or they are under way.
    def loose? = false
    # The size that chunks have come to.
    def chunk_size = @last

    # Whoever has jobs to give stands in the line, once.
    def stand
      return if @stands || !pending?
      @stands = true
      @line << self
    end

    # A chunk of what is still to do, nil if there is none: whoever is first in the line, and goes to its end if there is more.
    def take(size, seconds = CHUNK)
      @stands = false
      return unless pending?
      chunk = @again.shift || next_chunk(size, seconds)
      stand
      chunk
    end

    # Small ones while little is known, and when little is left.
    private def next_chunk(size, seconds)
      most = @done == 0 ? 1 : (seconds * @done / (@taken + 1e-9)).clamp(1, MOST).to_i
      @last = [most, @last * 2].min
      # Nobody should work on a last chunk while others have nothing.
      count = [@last, (@items.size + 2 * size - 1) / (2 * size)].min
      chunk = Chunk.new(self, @base, @items.shift(count))
      @base += count
      chunk
    end

    # Jobs that were sent and not begun.
    def put_back(chunk)
      @again << chunk unless @cancelled || chunk.items.empty?
      stand
    end

    # What `count` jobs took. Old jobs count less.
    def took(seconds, count)
      if @done > 2 * MOST
        @done /= 2
        @taken /= 2
      end
      @taken += seconds
      @done += count
    end

    def message(chunk) = [@number, @quiet, chunk.items, chunk.base]
    def timeout_of(_item) = @timeout

    # A job failed: whether it gets another try.
    def again?(index, item)
      return false if @cancelled || @retries == 0
      tries = (@tries ||= {})[index] = @tries.fetch(index, 0) + 1
      return @tries.delete(index) && false if tries > @retries
      @again << Chunk.new(self, index, [item])
      stand
      true
    end

    # Nothing more of it is begun.
    def cancel
      @cancelled = true
      @items = []
      @again.clear
      @changed.broadcast
    end

    # The pool can't go on.
    def break_down(error)
      @error ||= error
      cancel
    end
  end

  # Jobs that are sent together. `base`: the number of the first; `done`: how many have answered. `alone`: it is one job, whose worker's process ended, with `deaths` of those that had it alone.
  class Chunk # :nodoc:
    attr_reader :task, :base, :items
    attr_accessor :done, :deaths, :alone

    def initialize(task, base, items)
      @task, @base, @items = task, base, items
      @done = @deaths = 0
    end

    def rest = Chunk.new(@task, index, @items.drop(@done))
    def done? = @done == @items.size
    # Jobs that have no answer.
    def left = @items.size - @done
    def item = @items[@done]
    def index = @base + @done
    # The jobs that have no answer, in two parts.
    def halves = parted((left + 1) / 2)
    # So many of them, and the others.
    def parted(count)
      rest = @items.drop(@done)
      [Chunk.new(@task, index, rest.first(count)), Chunk.new(@task, index + count, rest.drop(count))]
    end
    # Each job that has no answer, by itself.
    def each_alone
      (@done...@items.size).each { |i| yield Chunk.new(@task, @base + i, [@items[i]]) }
    end
  end

  # Jobs that a method of the pool waits for: `map`, `each`. Values are kept by index, or as they come.
  class Series < Task # :nodoc:
    attr_reader :values, :given, :finished, :failed, :first_error

    def initialize(pool, number, block, ordered:, **options)
      super(pool, number, block, **options)
      @ordered = ordered
      @values = []
      @given = @finished = @failed = 0
      @closed = @waiting = false
      @thread, @fiber = Thread.current, Fiber.current unless loose?
    end

    # Objects to work on, that nobody else holds.
    def feed(list)
      return if @cancelled
      @given += list.size
      @items.empty? ? @items = list : @items.concat(list)
      stand
    end

    # There are no other objects.
    def close = @closed = true
    # Others may come.
    def keeps_open? = !done?
    # (With a scheduler, other fibers of the thread may wait.)
    def ours? = !done? && @thread.equal?(Thread.current) && (@fiber.equal?(Fiber.current) || Fiber.scheduler.nil?)
    def break_down(error) = done? || super
    def done? = @cancelled || (@closed && @finished == @given)
    # Objects taken from the source that nobody is done with.
    def ahead = @given - @finished

    def finish(index, value, error, _item)
      return if @cancelled
      @finished += 1
      if error
        @failed += 1
        @first_error = error if !@first_error || error.index < @first_error.index
      end
      keep(index, value, error) if error || !@quiet
      return unless @waiting && (@eager || error || done?)
      @waiting = false
      @changed.signal
    end

    # Values of jobs that follow each other.
    def finish_all(chunk, values)
      return if @cancelled
      @finished += values.size
      keep_all(chunk.index, values) unless @quiet
      return unless @waiting && (@eager || done?)
      @waiting = false
      @changed.signal
    end

    # Whether whoever waits has something to do, beside waiting for all.
    def due?(errors) = errors == :raise && @first_error

    # Waits for a change; the lock is free meanwhile. `eager`: for each one, else for the end or an error.
    def wait(lock, timeout = nil, eager: false)
      @waiting = true
      @eager = eager
      @changed.wait(lock, timeout)
    ensure
      @waiting = false
    end

    private

    def keep(index, value, error) = @ordered ? @values[index] = error || value : @values << (error || value)
    def keep_all(index, values) = @ordered ? @values[index, values.size] = values : @values.concat(values)
  end

  # Jobs whose results are taken one by one: `stream`. Whoever takes them may never come again, and nobody says so: the crew forgets it while it has nothing to give, and hears when it was collected.
  class Stream < Series # :nodoc:
    def initialize(...)
      super
      @values = {}
      @next = 0
    end

    def ahead = @given - @next
    def loose? = true
    def keeps_open? = pending?
    def ours? = false
    def due?(_errors) = @ordered ? @values.key?(@next) : !@values.empty?

    # The next result, as [value, error].
    def shift
      found = @ordered ? @values.delete(@next) : @values.shift[1]
      @next += 1
      found
    end

    private

    def keep(index, value, error) = @values[index] = [value, error]
    def keep_all(index, values) = values.each_with_index { |value, i| @values[index + i] = [value, nil] }
  end

  # What `submit` got: each item is a Future with a block of its own.
  class Calls < Task # :nodoc:
    def add(future)
      @items << future
      stand
    end

    def message(chunk) = [nil, false, chunk.items.map(&:call), chunk.base]
    def timeout_of(future) = future.timeout

    def remove(future) = @items.delete(future)

    def again?(index, future)
      return false if @cancelled || !future.again?
      @again << Chunk.new(self, index, [future])
      stand
      true
    end

    def finish(_index, value, error, future) = future.finish(value, error)
    def finish_all(chunk, values) = values.each_with_index { |value, i| chunk.items[chunk.done + i].finish(value, nil) }

    def break_down(error)
      futures = @items + @again.flat_map(&:items)
      @error ||= error
      cancel
      futures.each { |future| future.finish(nil, error) }
    end
  end
  private_constant :Task, :Chunk, :Series, :Stream, :Calls

  # The result of a job that may still be under way, as Pool#submit gives it.
  class Future
    attr_reader :timeout, :call # :nodoc:

    def initialize(pool, call, timeout, retries) # :nodoc:
      @pool, @call, @timeout, @retries = pool, call, timeout, retries
      @state = :pending
    end

    # The job's value; waits for it. A job that failed raises its RubyVM::Pool::JobError here. With a timeout, in seconds, nil when there is no value in time.
    #
    #     RubyVM::Pool.open(size: 1) { |pool| pool.submit(20) { |n| n + 1 }.value }   #=> 21
    def value(timeout = nil)
      return unless wait(timeout)
      raise JobError === @error ? @error : @pool.__send__(:again, @error), cause: @error.cause if @error
      @value
    end

    # Waits until the job is done, and answers the future; with a timeout, in seconds, nil when it is not in time.
    def wait(timeout = nil)
      return self if ready?
      @pool.__send__(:wait_for, timeout) { ready? } ? self : nil
    end

    # Whether there is a value or an error.
    def ready? = @state != :pending

    # What the job failed with, a RubyVM::Pool::JobError; nil if it did not fail or is not done.
    def error = @error

    # Takes the job back; false if it has been sent to a VM, or is done.
    def cancel
      @pool.__send__(:cancel_call, self)
    end

    # Whether `cancel` took it back.
    def cancelled? = @state == :cancelled

    # State of the job.
    def inspect = "#<RubyVM::Pool::Future #{@error ? "failed" : @state}>"
    alias to_s inspect

    def again? # :nodoc:
      (@retries -= 1) >= 0
    end

    def finish(value, error, state = :ready) # :nodoc:
      return if ready?
      @value, @error, @state = value, error, state
      @call = nil
    end
  end
end
