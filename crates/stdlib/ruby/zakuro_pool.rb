# RubyVM::Pool: VMs that do jobs (docs/pools.md). The constant is there without a `require`.
#
# The pool belongs to the VM that made it. Its state is guarded by one lock; a thread of that VM hears what the pool's VMs tell (`Crew#events`). Whoever has work for them
# hands it out itself.
class RubyVM::Pool
  class Error < RubyVM::Error; end

  # The pool was closed.
  class ClosedError < Error; end

  # The job was taken back by Future#cancel.
  class CancelledError < Error; end

  # The set-up of the pool's VMs failed; `cause` tells why. The pool can't be used any more.
  class SetupError < Error
    # An error of this cause.
    def initialize(message, cause = nil)
      super(message)
      @origin = cause
    end

    # What the set-up raised.
    def cause = super || @origin
  end

  # A job failed: by an exception (its `cause`, with the backtrace that it had in the VM), or as the subclasses say.
  class JobError < Error
    # `index`: The number of the job in its `map`, `each` or `stream`, counted from 0; of `submit` how many were submitted before.
    attr_reader :index
    # `vm`: The name of the VM that ran it.
    attr_reader :vm
    # `kind`: :exception, :timeout or :end.
    attr_reader :kind

    def self.of(kind, index, vm, message, cause) # :nodoc:
      { timeout: TimeoutError, end: EndError }.fetch(kind, JobError).allocate.__of(kind, index, vm, "job #{index}: #{message}", cause)
    end

    def __of(kind, index, vm, message, cause) # :nodoc:
      __send__(:initialize, message)
      @kind, @index, @vm, @origin = kind, index, vm, cause
      self
    end

    # The job's exception.
    def cause = super || @origin
  end

  # The job took longer than its `job_timeout:`. Its VM was ended and replaced.
  class TimeoutError < JobError; end

  # The job's VM ended in it, by a limit, a call of `exit` or a kill, and was replaced.
  class EndError < JobError; end
end

require "zakuro/pool/worker"
require "zakuro/pool/task"
require "zakuro/pool/crew"
require "zakuro/pool/report"

class RubyVM::Pool
  LIMITS = %i[memory_limit cpu_limit wall_limit thread_limit fd_limit grace foreign].freeze
  # Of VMs, tries and the like.
  MOST = 1_000_000_000
  private_constant :LIMITS, :MOST

  # `name`: The name of the pool, with which those of its VMs begin.
  attr_reader :name
  # The number of its VMs; with `connect:` of those that workers have now.
  def size = @connect ? @vms : @size

  @made = 0

  class << self
    # In a VM of a pool: what the set-up block returned there; else nil.
    def local = Worker.local

    # In a VM of a pool: its number in the pool, from 0; else nil.
    def index = Worker.index

    # Makes a pool, yields it, closes it and returns the block's value; an exception shuts it down. `setup:` is the set-up block of `new`.
    #
    #     RubyVM::Pool.open(size: 2) { |pool| pool.map([1, 2, 3]) { |n| n * 10 } }   #=> [10, 20, 30]
    def open(setup: nil, **options)
      raise ArgumentError, "RubyVM::Pool.open needs a block, which gets the pool" unless block_given?
      # Known before it has a VM: an interrupt may come between its last start and the block.
      pool = allocate
      ending_in(-> { pool.__send__(:end_now) }) do
        pool.__send__(:initialize, **options, &setup)
        value = yield(pool)
        pool.close
        value
      end
    ensure
      pool&.__send__(:wait_for_end)
    end

    def __name # :nodoc:
      "pool-#{@made += 1}"
    end

    # What an interrupt of this thread (Thread#kill, Thread#raise, Timeout) must not cut in two: it comes afterwards. Nothing of the program's runs in it, which may take long, and no thread is made, which would have this mask as well.
    private def uninterrupted(&) = Thread.handle_interrupt(Object => :never, &)

    # Calls the block, which may be interrupted, and then, whatever has ended it, `last`, which no interrupt cuts in two or keeps from being begun (as it may an `ensure` clause).
    # `first`, if there is one, is called when that is so.
    private def ending_in(last, first = nil, &work)
      uninterrupted do
        first&.call
        Thread.__send__(:__unmasked, &work)
      ensure
        last.call
      end
    end
  end

  # Starts the VMs: from the program state of this VM as it is now, from an Image, or from a file. The block is the set-up: it runs once in each of them (in those that replace others, too) before
  # its first job, and RubyVM::Pool.local is its value there. `job_timeout:` seconds that a job may take; `retry:` how many times a job that failed is tried again. The limits of
  # RubyVM.new stand for each VM.
  #
  # `connect:` the address of a server, and a name: the jobs are done by workers on any machine (`zakuro worker --connect URL program.rb`). Then `key:` signs what goes there, `tries:` how many workers may
  # end at one job (3), `patience:` seconds that the server may be away (60), `worker_timeout:` seconds after which jobs fail that no worker is there for (nil: never), `server:` a Hash of `user:`, `password:`, `token:`, `ca_file:` and the like.
  def initialize(size: nil, image: nil, file: nil, name: nil, job_timeout: nil, retry: 0, connect: nil, **limits, &setup)
    @connect = connect && machines_of(connect, limits, size || image || file)
    # Blocks keep the variables of this method, and it may have a password in it.
    connect = nil
    unknown = limits.keys - LIMITS
    raise ArgumentError, "unknown keyword#{"s" if unknown.size > 1}: #{unknown.map(&:inspect).join(", ")}" unless unknown.empty?
    raise ArgumentError, "image: and file: exclude each other" if image && file
    @vms = 0
    @size = @connect ? 1 : Processors.vms(whole(size, "size") || Processors.cores)
    raise TypeError, "image: wants a RubyVM::Image, not #{image.class}" unless image.nil? || RubyVM::Image === image
    if file
      file = File.expand_path(file)
      raise LoadError, "cannot load such file -- #{file}" unless File.file?(file)
    end
    @name = name.nil? ? RubyVM::Pool.__name : Words.plain(String(name))
    @timeout = seconds(job_timeout, "job_timeout")
    @retries = count(binding.local_variable_get(:retry))
    @owner = RubyVM.__here
    @lock = Mutex.new
    @changed = ConditionVariable.new
    @numbers = 0
    @calls = Calls.new(self, nil, nil, quiet: false, timeout: nil, retries: 0)
    @state = :open
    @start = now
    image = @image = RubyVM::Image.capture unless image || file || @connect
    grace = limits[:grace] ? { grace: limits[:grace] } : {}
    made = false
    self.class.__send__(:ending_in, -> { forsake unless made }) do
      @lock.synchronize do
        @crew = @connect ? Machines.new(self, *@connect, setup) : Crew.new(self, @size, { image:, file:, setup: }, limits, grace)
        @crew.open
      end
      begun = Thread::Queue.new
      @thread = Thread.new { listen(begun) }
      @thread.name = @name
      # Who kills it later ends the pool; before that it could not.
      begun.pop(timeout: 0.05) until begun.closed? || !@thread.alive?
      raise Error, "the thread of the pool #{@name} was killed" unless begun.closed?
      made = true
    end
  end

  # Calls the block with each object in the pool's VMs and returns its values: in the order of the objects, or with `ordered: false` in that in which they are ready. The first job
  # that fails ends it by its JobError; with `errors: :return` all are tried, and the errors are among the values.
  #
  #     RubyVM::Pool.open(size: 2) { |pool| pool.map(1..4) { |n| n * n } }   #=> [1, 4, 9, 16]
  def map(source, ordered: true, errors: :raise, timeout: @timeout, retry: @retries, progress: false, ahead: nil, &block)
    ahead = whole(ahead, "ahead")
    run("map", block, source, errors, progress, ahead, ordered:, quiet: false, timeout:, retries: binding.local_variable_get(:retry))
  end

  # Calls the block with each object in the pool's VMs, for what it does: values are not sent back. Returns the objects. The first job that fails ends it by its JobError; with `errors: :return`
  # all are tried, and it returns the errors.
  #
  #     RubyVM::Pool.open(size: 2) { |pool| pool.each([1, 2]) { |n| n } }   #=> [1, 2]
  def each(source, errors: :raise, timeout: @timeout, retry: @retries, progress: false, ahead: nil, &block)
    ahead = whole(ahead, "ahead")
    failed = run("each", block, source, errors, progress, ahead, ordered: false, quiet: true, timeout:, retries: binding.local_variable_get(:retry))
    errors == :return ? failed : source
  end

  # An Enumerator of the block's values, in the order of the objects or as they are ready. The source may be endless: objects are taken from it as values are taken from the Enumerator, and some ahead
  # (`ahead:`; unless given four chunks for each VM).
  #
  #     RubyVM::Pool.open(size: 2) { |pool| pool.stream(1.step) { |n| n * n }.first(3) }   #=> [1, 4, 9]
  def stream(source, ordered: true, errors: :raise, timeout: @timeout, retry: @retries, progress: false, ahead: nil, &block)
    retries = binding.local_variable_get(:retry)
    check("stream", block, errors)
    ahead = whole(ahead, "ahead")
    Enumerator.new do |out|
      with_series("stream", Stream, block, source, errors, progress, ordered:, quiet: false, timeout:, retries:) do |series, bar|
        feed(series, source, ahead, errors, bar) { give_ready(series, out, errors) }
        until series.done?
          @lock.synchronize { wait(series, errors, bar) }
          give_ready(series, out, errors)
        end
        give_ready(series, out, errors)
      end
    end
  end

  # Has the block called with the arguments in one of the pool's VMs; returns a Future.
  #
  #     RubyVM::Pool.open(size: 1) { |pool| pool.submit("a", 3) { |text, n| text * n }.value }   #=> "aaa"
  def submit(*arguments, timeout: @timeout, retry: @retries, &block)
    raise ArgumentError, "RubyVM::Pool#submit needs a block: the job" unless block
    future = Future.new(self, [block, arguments], seconds(timeout, "timeout"), count(binding.local_variable_get(:retry)))
    usable
    locked do
      open?
      @crew.add(@calls)
      @calls.add(future)
      dispatch
    end
    future
  end

  # What the pool has done so far, as a RubyVM::Pool::Report; its `to_s` is text for people.
  def report
    usable
    @lock.synchronize do
      crew, times = @crew, @crew.times
      elapsed = (@ended || now) - @start
      time = { min: times.min, median: times.quantile(0.5), p95: times.quantile(0.95), max: times.max, sum: times.sum }
      machines = @connect && crew.machines.map { |m| { host: m.host, pid: m.pid, size: m.size, jobs: m.jobs, errors: m.errors, busy: crew.busy(m, elapsed), ended: m.ended == true, fits: m.fits } }
      busy = machines ? machines.map { |m| m[:busy] } : crew.busy.map { |seconds| elapsed > 0 ? seconds / elapsed : 0.0 }
      Report.new(@name, size, elapsed, crew.jobs, crew.errors, crew.retries, crew.restarts, crew.timeouts, time, busy, machines, @broken ? @broken.message : @connect && crew.hint)
    end
  end

  # Takes no more jobs, waits for those that there are, and ends the VMs. Answers the pool.
  def close
    usable
    locked do
      raise Error, "the pool #{@name} can't be closed from within its own `map` or `each`, which would wait for its end: shut it down, or close it afterwards" if @state != :ended && @crew.waits_for_us?
      if @state == :open
        @state = :closing
        settle
      end
    end
    wait_for_end
    self
  end

  # Ends the VMs now: as `kill` does, with the pool's grace time. Jobs that are not done fail with a ClosedError. Answers the pool.
  def shutdown
    usable
    self.class.__send__(:uninterrupted) { end_now }
    wait_for_end
    self
  end

  # Whether it takes no more jobs.
  def closed? = @state != :open

  # Name, number of VMs and state.
  def inspect = "#<RubyVM::Pool #{@name}: #{@owner == RubyVM.__here ? "#{size} VMs, #{@state}" : "of another VM"}>"
  alias to_s inspect

  # In another VM a pool is there, since blocks and objects lead to it, but can't be used.
  def marshal_dump = [@name, @size] # :nodoc:

  def marshal_load(data) # :nodoc:
    @name, @size = data
    @owner = nil
    @state = :elsewhere
  end

  private def initialize_copy(_other)
    raise TypeError, "can't copy RubyVM::Pool"
  end

  # TypeError: a pool changes as long as it works.
  def freeze = raise(TypeError, "can't freeze RubyVM::Pool")

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def seconds(value, name)
    return if value.nil?
    raise TypeError, "#{name} must be a number of seconds, not #{value.class}" unless Numeric === value
    raise ArgumentError, "#{name} must be positive" unless value > 0
    value
  end

  # A number of things; nil for nil.
  def whole(value, name, least = 1)
    return if value.nil?
    raise TypeError, "#{name} must be a whole number, not #{Numeric === value ? value : value.class}" unless Numeric === value && Integer(value, exception: false) == value
    raise ArgumentError, "#{name} must #{least == 0 ? "not be negative" : "be positive"}" if value < least
    raise ArgumentError, "#{name} must be at most #{MOST}" if value > MOST
    value.to_i
  end

  def count(value) = whole(value, "retry", 0) || 0

  # The lock and the thread are those of the VM that made it.
  def usable
    raise Error, "the pool #{@name} belongs to another VM or process: make one here, or send the work there through a channel" unless @owner == RubyVM.__here
  end

  def open?
    raise again(@broken), cause: @broken.cause if @broken
    raise ClosedError, "the pool #{@name} is closed" unless @state == :open
  end

  # What has broken the pool, for whoever asks: with the place where he does.
  def again(error) = error.dup.tap { |one| one.set_backtrace(caller_locations(1)) }

  def ending? = @state == :ended || @state == :leaving

  def check(name, block, errors)
    raise ArgumentError, "RubyVM::Pool##{name} needs a block: the job" unless block
    raise ArgumentError, "errors: must be :raise or :return" unless %i[raise return].include?(errors)
  end

  # What the crew and its tasks know changes here alone: no interrupt of this thread (Thread#kill, Thread#raise, Timeout) cuts it in two.
  def locked(&) = self.class.__send__(:uninterrupted) { @lock.synchronize(&) }

  # Yields a series of jobs and its bar of progress. Whatever happens, nothing of it is begun afterwards.
  def with_series(name, kind, block, source, errors, progress, timeout:, retries:, **options)
    check(name, block, errors)
    usable
    sendable(name, block)
    timeout, retries = seconds(timeout, "timeout"), count(retries)
    total = Array === source || Hash === source || Range === source ? source.size : nil
    bar = Progress.for(progress, Integer === total ? total : nil)
    bar&.note = -> { "#{@crew.machines.count { |m| !m.ended }} machines, #{@vms} VMs #{@crew.hint && "(#{@crew.hint}) "}" } if @connect
    series = nil
    self.class.__send__(:ending_in, -> { leave(series) if series }) do
      locked do
        open?
        @crew.add(series = kind.new(self, @numbers += 1, block, timeout:, retries:, **options))
      end
      yield(series, bar).tap { bar&.finish(series.finished, series.failed) }
    end
  end

  # Tells before anything is begun.
  def sendable(name, block)
    return @crew.fits(block) if @connect
    RubyVM::Channel.new.try_send(block)
  rescue TypeError => e
    raise TypeError, "RubyVM::Pool##{name}: the block can't be sent to the pool's VMs: #{Words.message_of(e)} ($ is the block; it gets copies of what it uses: " \
                     "give it objects that can be copied, or make them in the set-up block of the pool)"
  end

  # Feeds all, waits for all, and answers the values.
  def run(name, block, source, errors, progress, ahead, **options)
    with_series(name, Series, block, source, errors, progress, **options) do |series, bar|
      if Array === source || (Range === source && Integer === source.begin && Integer === source.end)
        locked do
          series.feed(Array.new(source.to_a))
          series.close
          dispatch
        end
      else
        feed(series, source, ahead, errors, bar) { raise_first(series, errors) }
      end
      until series.done?
        @lock.synchronize { wait(series, errors, bar, eager: false) }
        raise_first(series, errors)
      end
      raise_first(series, errors)
      series.values
    end
  end

  # A stream that is gone on with hears here that the pool has ended meanwhile.
  def hear_end(series) = @crew.over && series.break_down(@crew.over)

  # Waits for a change of the series, unless there is something to do.
  def wait(series, errors, bar, eager: true)
    hear_end(series)
    series.wait(@lock, bar && Progress::EVERY, eager:) unless series.done? || series.due?(errors)
    bar&.show(series.finished, series.failed)
  end

  def raise_first(series, errors)
    raise again(series.error), cause: series.error.cause if series.error
    raise series.first_error, cause: series.first_error.cause if errors == :raise && series.first_error
  end

  # Gives the Enumerator what there is.
  def give_ready(series, out, errors)
    while (value, error = @lock.synchronize { series.shift if series.due?(errors) })
      raise error, cause: error.cause if error && errors == :raise
      out << (error || value)
    end
    raise again(series.error), cause: series.error.cause if series.error
  end

  def leave(series)
    @lock.synchronize do
      series.cancel
      @crew.remove(series)
      settle
      # The pool's thread hands out what others have to do.
      wake if @crew.waiting?
    end
  end

  # Takes objects from the source, so many ahead that no VM waits. Yields in between.
  def feed(series, source, ahead, errors, bar)
    taken = []
    hand_in = lambda do
      locked do
        hear_end(series)
        series.feed(taken)
        taken = []
        dispatch
      end
      yield
      while series.ahead >= (ahead || 4 * @size * series.chunk_size)
        @lock.synchronize { wait(series, errors, bar) }
        yield
      end
      bar&.show(series.finished, series.failed)
    end
    each_of(source) do |item|
      taken << item
      # While there is work for all, several at once.
      hand_in.call if taken.size >= series.chunk_size || series.pending <= 2 * @size || (ahead && series.ahead + taken.size >= ahead)
    end
    hand_in.call unless taken.empty?
    locked do
      series.close
      dispatch
    end
  end

  def each_of(source, &block)
    return source.each_entry(&block) if Enumerable === source
    raise TypeError, "#{source.class} has no method `each`" unless source.respond_to?(:each)
    source.each(&block)
  end

  # Within `locked`: hands out work.
  def dispatch
    done = false
    @crew.dispatch
    done = true
    return unless @listens
    at = @crew.deadline
    wake if at && (!@listens_until || at < @listens_until)
  ensure
    # An interrupt, while a job was packed: the pool's thread hands out what others have to do.
    wake unless done
  end

  def wake = @crew.events << nil

  # If it was made.
  def end_now
    return unless @thread
    @lock.synchronize do
      unless @state == :ended
        @state = :ended
        @crew.fail(ClosedError.new("the pool #{@name} was shut down"))
        @crew.kill
        wake
      end
    end
  end

  def wait_for_end
    @thread.join unless @thread.nil? || Thread.current == @thread
  end

  # The pool's thread: hears what the VMs tell, until the last one has ended.
  def listen(begun)
    Thread.__send__(:__not_counted)
    error = nil
    self.class.__send__(:ending_in, -> { @lock.synchronize { listen_no_more(error) } }, -> { begun.close }) do
      hear_all
    rescue Exception => e
      error = Error.new("internal error of the pool #{@name}: #{e.full_message(highlight: false)}")
    end
  end

  def hear_all
    until locked { await }
      event = @crew.events.recv(timeout: @listens_until && [@listens_until - now, 0].max)
      locked do
        @listens = false
        @crew.handle(event)
        while (event = @crew.events.try_recv)
          @crew.handle(event)
        end
        @crew.expire if @listens_until && @listens_until <= now
        @crew.dispatch
        settle
        @changed.broadcast
      end
    end
  end

  # Under the lock. Nobody hears of VMs that there are still: the program, or its end, has killed this thread.
  def listen_no_more(error)
    error ||= Error.new("the thread of the pool #{@name} was killed") unless @crew.gone?
    if error
      @broken ||= error
      @crew.fail(error)
      @crew.kill
    end
    @state = :ended
    @ended = now
    let_go
    @changed.broadcast
  end

  # Its descriptors are duplicates: who reads from a pipe would wait for the end of theirs, too.
  def let_go = @image&.__let_go

  # It could not be made as a whole: ends what there is of it.
  def forsake
    @state = :ended
    @crew&.forsake
    let_go
    wake if @crew&.events
  end

  # Whether there is nothing to wait for.
  def await
    return true if ending? && @crew.gone?
    @listens = true
    @listens_until = @crew.deadline
    false
  end

  # Under the lock: a pool that is closed and has nothing to do lets its VMs end.
  def settle
    return unless @state == :closing && @crew.idle?
    @state = :leaving
    # Streams are under way that nobody may go on with.
    @crew.drop(ClosedError.new("the pool #{@name} is closed"))
    @crew.close
    wake
  end

  # Ends the jobs of a block, those that run as well, with their VMs; whoever waits for them gets the error. Answers how many ran.
  def abandon(block, error) = locked { @crew.abandon(block, error).tap { dispatch } }

  # With `connect:`: what the crew needs.
  def machines_of(url, options, other)
    raise ArgumentError, "connect: excludes size:, image: and file:, which workers are started with" if other
    server = options.delete(:server) || {}
    require "zakuro/cluster/crew"
    known = %i[key tries patience timeout worker_timeout]
    given = options.slice(*known)
    given[:key] = RubyVM::Cluster.hidden_key(given[:key])
    known.each { |name| options.delete(name) }
    raise ArgumentError, "limits are for workers to set: #{options.keys.map(&:inspect).join(", ")}" unless options.empty?
    address = RubyVM::Cluster.const_get(:Address).new(url, **server)
    raise ArgumentError, "the address names no pool: #{address.server}/NAME" if address.name.empty?
    [address, given]
  end

  # Under the lock: how many VMs the workers have.
  def size_is(vms)
    @vms = vms
    @size = [vms, 1].max
  end

  # Under the lock: the server is away for good, or says no.
  def break_off(error)
    return if ending?
    @broken = Error === error ? error : Error.new("the pool #{@name} lost its server: #{error.message}")
    @state = :ended
    @crew.fail(@broken)
    @crew.kill
  end

  def set_up_failed(cause, text = Words.of(cause))
    return if ending?
    @broken = SetupError.new("the set-up of the pool #{@name} failed: #{text}", cause)
    @state = :ended
    @crew.fail(@broken)
    @crew.kill
  end

  # Waits until the block is true; false when that takes longer than the timeout.
  def wait_for(timeout)
    raise TypeError, "timeout must be a number of seconds, not #{timeout.class}" unless timeout.nil? || Numeric === timeout
    usable
    by = timeout && now + timeout
    @lock.synchronize do
      until yield
        left = by && by - now
        return false if left && left <= 0
        @changed.wait(@lock, left)
      end
      true
    end
  end

  def cancel_call(future)
    usable
    locked do
      return false unless @calls.remove(future)
      future.finish(nil, CancelledError.new("the job was cancelled"), :cancelled)
      @changed.broadcast
      true
    end
  end
end
