# Monitor's condition variables, and MonitorMixin, over the Monitor and ConditionVariable of Rust.

class Monitor
  # A condition variable of this monitor.
  def new_cond = MonitorMixin::ConditionVariable.new(self)
end

module MonitorMixin
  class ConditionVariable
    def initialize(monitor)
      @monitor = monitor
      @cond = Thread::ConditionVariable.new
    end

    # Gives the monitor up until a signal comes, at most `timeout` seconds.
    def wait(timeout = nil)
      @monitor.mon_check_owner
      @monitor.wait_for_cond(@cond, timeout)
    end

    def wait_while
      wait while yield
    end

    def wait_until
      wait until yield
    end

    def signal
      @monitor.mon_check_owner
      @cond.signal
    end

    def broadcast
      @monitor.mon_check_owner
      @cond.broadcast
    end
  end

  def self.extend_object(object)
    super
    object.__send__(:mon_initialize)
  end

  def mon_try_enter = @mon_data.try_enter
  alias try_mon_enter mon_try_enter

  def mon_enter = @mon_data.enter

  def mon_exit
    mon_check_owner
    @mon_data.exit
  end

  def mon_locked? = @mon_data.mon_locked?

  def mon_owned? = @mon_data.mon_owned?

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
