# Monitor's condition variables, and MonitorMixin, over the Monitor and ConditionVariable of Rust.

class Monitor
  # A condition variable of this monitor.
  def new_cond = MonitorMixin::ConditionVariable.new(self)
end

module MonitorMixin
  class ConditionVariable
    # A condition variable of a monitor.
    def initialize(monitor)
      @monitor = monitor
      @cond = Thread::ConditionVariable.new
    end

    # Gives the monitor up until a signal comes, at most `timeout` seconds.
    def wait(timeout = nil)
      @monitor.mon_check_owner
      @monitor.wait_for_cond(@cond, timeout)
    end

    # Gives the monitor up and waits for signals while the block is true.
    def wait_while
      wait while yield
    end

    # Gives the monitor up and waits for signals until the block is true.
    def wait_until
      wait until yield
    end

    # Wakes one thread that waits; ThreadError if this one does not hold the monitor.
    def signal
      @monitor.mon_check_owner
      @cond.signal
    end

    # Wakes all threads that wait; ThreadError if this one does not hold the monitor.
    def broadcast
      @monitor.mon_check_owner
      @cond.broadcast
    end
  end

  # Makes the object a monitor.
  def self.extend_object(object)
    super
    object.__send__(:mon_initialize)
  end

  # Enters the monitor if no other thread is in it: whether that went well.
  def mon_try_enter = @mon_data.try_enter
  alias try_mon_enter mon_try_enter

  # Waits until no other thread is in the monitor, and enters it.
  def mon_enter = @mon_data.enter

  # Leaves the monitor; ThreadError if this thread is not in it.
  def mon_exit
    mon_check_owner
    @mon_data.exit
  end

  # Whether a thread is in the monitor.
  def mon_locked? = @mon_data.mon_locked?

  # Whether this thread is in the monitor.
  def mon_owned? = @mon_data.mon_owned?

  # Runs the block in the monitor.
  def mon_synchronize(&block) = @mon_data.synchronize(&block)
  alias synchronize mon_synchronize

  # Before `initialize`, too, which then finds the monitor made.
  def new_cond
    unless defined?(@mon_data)
      mon_initialize
      @mon_data_made_early = true
    end
    ::MonitorMixin::ConditionVariable.new(@mon_data)
  end

  # Hands its arguments on, and makes the monitor.
  def initialize(...)
    super
    mon_initialize
  end

  def mon_initialize
    if defined?(@mon_data) && @mon_data_owner_object_id == object_id
      return if @mon_data_made_early && remove_instance_variable(:@mon_data_made_early)
      raise ThreadError, "already initialized"
    end
    @mon_data = ::Monitor.new
    @mon_data_owner_object_id = object_id
  end

  def mon_check_owner = @mon_data.mon_check_owner

  private :mon_initialize, :mon_check_owner
end

# What threads wait at has no copies.
[Thread::Queue, Thread::ConditionVariable].each { |c| c.undef_method(:initialize_copy) }
