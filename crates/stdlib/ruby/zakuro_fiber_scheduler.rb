# A fiber scheduler over the VM's reactor. `RubyVM::FiberScheduler.run { Fiber.schedule { ... } }` runs a block under one and returns when all its fibers have ended;
# `Fiber.set_scheduler(RubyVM::FiberScheduler.new)` gives the running thread one until its end.
#
# All fibers run in the thread that made the scheduler and switch by transfer to and from its loop, which is that thread's own code. Each wait is an object of its own that
# is ended once, by whatever comes first; what comes later finds it ended. Other threads of the VM may end waits, too: threads change at safepoints only, and
# the queue of ended waits is taken as a whole.
class RubyVM::FiberScheduler
  private_constant :Poller

  # A fiber's wait. `mask`: the events of a stream that ended it.
  class Wait
    attr_reader :fiber, :result

    def initialize(fiber, ready)
      @fiber = fiber
      @ready = ready
      @ended = @dropped = false
    end

    def ended? = @ended

    def finish(result)
      return false if @ended
      @ended = true
      @result = result
      @ready << self
      true
    end

    # The fiber left it by an exception.
    def drop = @dropped = @ended = true

    def go_on = !@dropped && @fiber.alive? && @fiber.transfer(@result)
  end

  # An exception for a fiber, whatever it waits for.
  Interrupt = Struct.new(:fiber, :exception) do
    def go_on = fiber.alive? && fiber.raise(exception)
  end

  # What is due when: a binary heap, in order of times, then of arrival. A cancelled one leaves when its time comes or when it is one of many.
  class Timers
    Timer = Struct.new(:at, :number, :block)

    def initialize
      @heap = []
      @live = @last = 0
    end

    def empty? = @live == 0

    def add(at, &block)
      timer = Timer.new(at, @last += 1, block)
      @live += 1
      rise(@heap.size, timer)
      timer
    end

    def cancel(timer)
      return unless timer.block
      timer.block = nil
      @live -= 1
      return if @heap.size < 32 || @live > @heap.size / 2
      # What is sorted is a heap.
      @heap = @heap.select(&:block).sort_by! { [_1.at, _1.number] }
    end

    # The time of the first one that was not cancelled.
    def first
      take_first until @heap.empty? || @heap[0].block
      @heap[0]&.at
    end

    # Calls the blocks whose time has come.
    def run(now)
      while (at = first) && at <= now
        timer = take_first
        block = timer.block
        cancel(timer)
        block.call
      end
    end

    private

    def before?(a, b) = a.at < b.at || a.at == b.at && a.number < b.number

    def rise(index, timer)
      while index > 0 && before?(timer, @heap[above = (index - 1) / 2])
        @heap[index] = @heap[above]
        index = above
      end
      @heap[index] = timer
    end

    def take_first
      first = @heap[0]
      last = @heap.pop
      sink(last) unless @heap.empty?
      first
    end

    def sink(timer)
      index = 0
      while (below = 2 * index + 1) < @heap.size
        below += 1 if below + 1 < @heap.size && before?(@heap[below + 1], @heap[below])
        break unless before?(@heap[below], timer)
        @heap[index] = @heap[below]
        index = below
      end
      @heap[index] = timer
    end
  end
  # Of so many that were told too early, some may have ended since.
  MANY_EARLY = 1000
  private_constant :Wait, :Interrupt, :Timers, :MANY_EARLY

  # Runs the block in a fiber of a new scheduler, and what it schedules; returns what the block returned.
  def self.run(&block)
    raise ArgumentError, "no block given" unless block
    result = nil
    Thread.new do
      Thread.current.report_on_exception = false
      Fiber.set_scheduler(new)
      Fiber.schedule { result = block.call }
    end.join
    result
  end

  # A scheduler for the running thread.
  def initialize
    @loop = Fiber.current
    @poller = Poller.new
    @ready = []
    @waits = {}.compare_by_identity
    @early = {}.compare_by_identity
    @many_early = MANY_EARLY
    @timers = Timers.new
    @streams = {}
    @asleep = 0
    @closed = false
  end

  # Whether the scheduler has ended.
  def closed? = @closed

  # Hooks that CRuby names. https://docs.ruby-lang.org/en/master/Fiber/Scheduler.html

  # Starts a fiber for `Fiber.schedule`, at once.
  def fiber(**options, &block)
    fiber = Fiber.new(blocking: false, **options, &block)
    here = Fiber.current
    # Not the loop: it goes on in the next round.
    Wait.new(here, @ready).finish(nil) unless here.equal?(@loop)
    fiber.transfer
    fiber
  end

  # Waits until `unblock` is called for the fiber, or the seconds are over: whether it was.
  def block(blocker, timeout = nil)
    wait(timeout) { |w|
      @waits[w.fiber] = w
      w.finish(true) if @early.delete(w.fiber)
    } || false
  ensure
    @waits.delete(Fiber.current)
  end

  # May come before `block` has noted the fiber, from another thread. What is said too early ends the fiber's next wait, which looks again why it waits.
  def unblock(blocker, fiber)
    @early[fiber] = true
    wait = @waits[fiber] or return
    @early.delete(fiber)
    wake if wait.finish(true)
  end

  # `sleep` gives no argument for ever: a signal may end that, so it is never a deadlock. What waits inside the VM (ConditionVariable#wait) gives nil.
  def kernel_sleep(*duration)
    @asleep += 1 if duration.empty?
    block(:sleep, *duration)
    true
  ensure
    @asleep -= 1 if duration.empty?
  end

  # Before the running fiber raises in another one: that one comes back to the loop, not to it.
  def fiber_leave(fiber) = Wait.new(fiber, @ready).finish(nil)

  # Lets other fibers run.
  def yield = wait(0)

  # Waits until a stream is ready for one of the events, or the seconds are over: the events, or false.
  def io_wait(io, events, timeout)
    fd = io.fileno
    waiters = (@streams[fd] ||= [])
    entry = nil
    wait(timeout) do |w|
      entry = [events, w]
      waiters << entry
      # A file on a disk is always ready.
      w.finish(events) unless watch(fd, waiters)
    end || false
  ensure
    if entry
      waiters.delete_if { _1.equal?(entry) }
      watch(fd, waiters)
    end
  end

  # `IO.select`, beside other fibers.
  def io_select(reads, writes = nil, errors = nil, timeout = nil)
    aside { IO.select(reads, writes, errors, timeout) }
  end

  # Waits for a process, beside other fibers: its Process::Status.
  def process_wait(pid, flags)
    aside { Process::Status.wait(pid, flags) }
  end

  # The addresses of a host's name, looked up beside other fibers.
  def address_resolve(name)
    aside { Addrinfo.getaddrinfo(name, nil).map(&:ip_address).uniq }
  end

  # Does work that blocks its thread, beside other fibers.
  def blocking_operation_wait(work)
    aside { work.call }
  end

  # Raises an exception in the fiber if the block runs longer than the seconds.
  def timeout_after(duration, error, message)
    fiber = Fiber.current
    timer = @timers.add(now + duration) { interrupt(fiber, error.is_a?(Class) ? error.new(message) : error) }
    begin
      yield duration
    ensure
      @timers.cancel(timer)
    end
  end

  # Raises an exception in a fiber that waits.
  def fiber_interrupt(fiber, exception)
    interrupt(fiber, exception)
    wake
  end

  # Runs fibers until none waits.
  def run
    turn until @ready.empty? && @waits.empty? && @streams.empty? && @timers.empty?
  end

  # Runs all fibers to their end, and ends the scheduler.
  def scheduler_close
    return if @closed
    run
  ensure
    @closed = true
  end

  # Ends the scheduler of the thread, after its fibers.
  def close
    Fiber.scheduler.equal?(self) ? Fiber.set_scheduler(nil) : scheduler_close
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  # Waits in the running fiber until the Wait that the block gets is finished (its result) or the seconds are over (nil).
  def wait(seconds)
    wait = Wait.new(Fiber.current, @ready)
    timer = @timers.add(now + seconds) { wait.finish(nil) } if seconds
    begin
      yield wait if block_given?
      @loop.transfer
      wait.result
    ensure
      @timers.cancel(timer) if timer
      wait.drop
    end
  end

  # Runs the block, which blocks its thread, in a thread of its own.
  def aside(&) = Thread.new { Thread.current.report_on_exception = false; yield }.value

  def interrupt(fiber, exception) = @ready << Interrupt.new(fiber, exception)

  # The loop's own thread, too, may be told within its wait.
  def wake = @poller.ring

  # Registers what the stream's waiters wait for. False: it can't be waited for.
  def watch(fd, waiters)
    events = waiters.inject(0) { |mask, (events, wait)| wait.ended? ? mask : mask | events }
    @streams.delete(fd) if waiters.empty?
    @poller.watch(fd, events)
  rescue Errno::EBADF
    waiters.each { |_, wait| wait.finish(0) }
    true
  end

  # As many again may come before it looks anew.
  def forget_ended
    @early.select! { |fiber, _| fiber.alive? }
    @many_early = [2 * @early.size, MANY_EARLY].max
  end

  def turn
    forget_ended if @early.size > @many_early
    pause = @timers.first&.then { [_1 - now, 0].max }
    pause = 0 unless @ready.empty?
    if !pause && @streams.empty? && @asleep == 0
      @poller.idle
      pause = 0
    end
    @poller.wait(pause).each_slice(2) do |fd, mask|
      waiters = @streams[fd] or next
      waiters.each { |events, wait| wait.finish(events & mask) if events & mask != 0 }
      watch(fd, waiters)
    end
    @timers.run(now)
    ready = @ready.slice!(0..)
    until ready.empty?
      ready.shift.go_on
    end
  ensure
    @ready.replace(ready + @ready) if ready && !ready.empty?
  end
end
