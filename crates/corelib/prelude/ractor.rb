# Ractor: a VM forked from the one that makes it (RubyVM.fork), with channels around it. Both generations of the API: ports, `value`, `monitor`
# (since 3.5), and `take`, `yield`, `receive_if` (before). docs/ractor.md lists what differs from CRuby.
#
# A Ractor object is a handle: it travels in messages, and its copies are equal. Only the VM that it stands for reads its inbox. What a Ractor
# yields goes through @__out; who takes it says so in @__ack, so that `yield` waits for the taker.

class Ractor
  class RemoteError < Error
    # `ractor`: The Ractor that ended by the exception in `cause`.
    attr_reader :ractor

    # An error that tells that another Ractor ended by an exception.
    def initialize(message = "thrown by remote Ractor.", ractor: nil)
      super(message)
      @ractor = ractor
    end
  end

  class ClosedError < StopIteration; end
  class MovedError < Error; end
  class UnsafeError < Error; end

  class MovedObject < BasicObject
    # Raises Ractor::MovedError.
    def method_missing(*) = ::Kernel.raise(MovedError, "can not send any methods to a moved object")
    %i[== ! != __send__ __id__ instance_eval instance_exec equal?].each { |name| alias_method name, :method_missing }
  end

  # A place where its maker, and nobody else, receives.
  class Port
    # A port of the Ractor that makes it.
    def initialize
      __adopt(RubyVM::Channel.new)
    end

    def __adopt(channel)
      @__channel = channel
      @__owner = RubyVM.current
      self
    end

    # Sends a copy of the object, or the object itself with `move: true`; Ractor::ClosedError if the port is closed.
    def send(object, move: false)
      return self << object unless move
      raise ClosedError, "The port was already closed" if closed?
      begin
        @__channel.send(object, move: true)
      rescue RubyVM::ClosedError
        raise ClosedError, "The port was already closed"
      end
      self
    end

    # Sends a copy of the object; Ractor::ClosedError if the port is closed.
    def <<(object)
      raise ClosedError, "The port was already closed" if closed?
      @__channel << object
      self
    rescue RubyVM::ClosedError
      raise ClosedError, "The port was already closed"
    end

    # Waits for a message; Ractor::Error for others than the port's maker.
    def receive
      raise Ractor::Error, "only allowed from the creator Ractor of this port" unless @__owner.__current?
      begin
        @__channel.__send__(:__recv)
      rescue RubyVM::ClosedError
        raise ClosedError, "The port was already closed"
      end
    end

    # Closes the port; Ractor::Error for others than its maker.
    def close
      raise Ractor::Error, "closing port by other ractors is not allowed" unless @__owner.__current?
      @__channel.close
      self
    end

    # Whether the port is closed, or its Ractor has ended.
    def closed? = @__channel.closed? || !@__owner.alive?

    # Whether both are the same port.
    def ==(other) = Port === other && @__channel == other.__channel
    alias eql? ==
    # The same for equal ports.
    def hash = @__channel.hash
    # The Ractor of the port, and a number.
    def inspect = "#<Ractor::Port to:\##{@__owner.id} id:#{@__channel.hash}#{" closed" if closed?}>"
    alias to_s inspect

    def __channel = @__channel
    def __owner = @__owner

    def __own(vm)
      @__owner = vm
      self
    end
  end

  # Starts a Ractor that runs the block with copies of the arguments. The other keywords are the limits of RubyVM.new.
  def self.new(*args, name: nil, memory_limit: nil, cpu_limit: nil, wall_limit: nil, thread_limit: nil, fd_limit: nil, grace: nil, foreign: nil, &block)
    raise ArgumentError, "must be called with a block" unless block
    unless name.nil?
      text = String.try_convert(name)
      raise TypeError, "no implicit conversion of #{name.class} into String" unless text
      raise ArgumentError, "ASCII incompatible encoding (#{text.encoding})" unless text.encoding.ascii_compatible?
      name = text.dup.freeze
    end
    family = main.__vm
    at = Kernel.caller_locations(0, 1)&.first
    ractor = __allocate
    ractor.__prepare(name, at && "#{at.path}:#{at.lineno}")
    # As arguments, so that handles among them keep their power.
    limits = { memory_limit:, cpu_limit:, wall_limit:, thread_limit:, fd_limit:, grace:, foreign: }
    vm = RubyVM.fork(args, name: name || "Ractor", family: family.id, **limits) { |list| ractor.__run(list, block) }
    ractor.__started(vm)
    ractor
  end

  # The Ractor that runs this code.
  def self.current
    unless @__current&.__vm&.__current?
      @__current = @__main = __allocate
      @__main.__prepare(nil, nil)
      @__main.__started(RubyVM.current)
    end
    @__current
  end

  # The first Ractor of the family.
  def self.main
    current
    @__main
  end

  # Whether this is the first Ractor of the family.
  def self.main? = main == current

  # How many Ractors of the family run.
  def self.count = 1 + main.__vm.__send__(:__family_size)

  # Waits for the next message to this Ractor.
  def self.receive = current.__receive
  # Waits for the next message to this Ractor.
  def self.recv = current.__receive
  # Waits for the first message for which the block is true; others stay for later.
  def self.receive_if(&block) = current.__receive_if(block)

  # Waits until somebody takes the object.
  def self.yield(object, move: false) = current.__yield(object, move)

  # Waits for a message at one of the ports, or a yielded object or the end of one of the Ractors.
  def self.select(*sources, yield_value: nil, move: false)
    raise ArgumentError, "specify at least one Ractor::Port or Ractor" if sources.empty?
    raise NotImplementedError, "yield_value of Ractor.select" unless yield_value.nil?
    channels = []
    meaning = []
    watched = []
    sources.each do |source|
      case source
      when Port
        channels << source.__channel
        meaning << [source, :port]
      when Ractor
        if source == current
          queued = __set_aside
          return [:receive, queued.shift] unless queued.empty?
          channels << source.__inbox
          meaning << [source, :receive]
        else
          ended = RubyVM::Channel.new
          source.__vm.monitor(ended)
          watched << [source, ended]
          channels << source.__out << ended
          meaning << [source, :yield] << [source, :end]
        end
      else
        raise ArgumentError, "should be Ractor::Port or Ractor"
      end
    end
    begin
      channel, object = RubyVM.select(*channels)
    rescue RubyVM::ClosedError
      raise ClosedError, "The port was already closed"
    ensure
      watched.each { |source, ended| source.__vm.unmonitor(ended) }
    end
    source, how = meaning[channels.index { |c| c == channel }]
    case how
    when :port then [source, object]
    when :receive then [:receive, object]
    when :end then [source, source.value]
    else
      source.__taken
      [source, object]
    end
  end

  # This Ractor's variable of the name, or nil.
  def self.[](name) = __locals[__local_name(name)]
  # Sets this Ractor's variable of the name.
  def self.[]=(name, value)
    __locals[__local_name(name)] = value
  end

  # State of the running Ractor. It is the class's, not the handle's: handles travel.
  def self.__locals = @__locals ||= {}
  def self.__set_aside = @__set_aside ||= []

  def self.__local_name(name)
    return name if Symbol === name
    String.try_convert(name)&.to_sym or raise TypeError, "#{name.inspect} is not a symbol nor a string"
  end

  def self.__begin(ractor)
    @__current = ractor
    @__locals = @__set_aside = @__lock = nil
  end

  # The current Ractor's variable; when it has none, what the block returns becomes its value.
  def self.store_if_absent(name)
    name = __local_name(name)
    # Without the lock: a signal's handler may ask, too.
    return __locals[name] if __locals.key?(name)
    (@__lock ||= Mutex.new).synchronize { __locals.key?(name) ? __locals[name] : (__locals[name] = yield(nil)) }
  end

  # A Proc of the block that other Ractors can call: with `self:` as its self, and with copies of variables that can be shared.
  def self.shareable_proc(self: nil, &block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    __isolate(block, binding.local_variable_get(:self), false)
  end

  # A lambda of the block that other Ractors can call: with `self:` as its self, and with copies of variables that can be shared.
  def self.shareable_lambda(self: nil, &block)
    raise ArgumentError, "tried to create Proc object without a block" unless block
    __isolate(block, binding.local_variable_get(:self), true)
  end

  # `name`: The name that the Ractor was given, or nil.
  attr_reader :name

  # Sends a copy of the object to the Ractor's default port.
  def send(object, move: false)
    if move
      @__port.send(object, move: true)
    else
      @__port << object
    end
    self
  end

  # Sends a copy of the object to the Ractor's default port.
  def <<(object)
    @__port << object
    self
  end

  # The port where the Ractor's `receive` looks.
  def default_port = @__port

  # Waits until the Ractor ends; RemoteError if it does so by an exception.
  def join
    __value
    self
  rescue RemoteError
    raise
  end

  # What the block returned. An exception that ended it is the cause of the RemoteError raised here.
  def value
    __value
  end

  # The next object that the Ractor yields, or at last its block's value.
  def take
    object = @__out.__send__(:__recv)
    __taken
    object
  rescue RubyVM::ClosedError
    raise ClosedError, "The outgoing-port is already closed" if @__took
    @__took = true
    __value
  end

  # Sends `:exited` or `:aborted` to the port when the Ractor ends. False when it has ended already.
  def monitor(port) = @__vm.monitor(port.__channel)

  # Ends what `monitor` began.
  def unmonitor(port)
    @__vm.unmonitor(port.__channel)
    self
  end

  # Takes no more messages; answers whether that was so already.
  def close_incoming
    closed = @__inbox.closed?
    @__inbox.close
    closed
  end

  # Yields no more objects; answers whether that was so already.
  def close_outgoing
    closed = @__out.closed?
    @__out.close
    closed
  end

  # Takes no more messages; answers whether that was so already.
  def close = close_incoming

  # The Ractor's own variable of the name; RuntimeError for another Ractor's.
  def [](name)
    raise RuntimeError, "Cannot get ractor local storage for non-current ractor" unless @__vm == RubyVM.current
    Ractor[name]
  end

  # Sets the Ractor's own variable of the name; RuntimeError for another Ractor's.
  def []=(name, value)
    raise RuntimeError, "Cannot set ractor local storage for non-current ractor" unless @__vm == RubyVM.current
    Ractor[name] = value
  end

  private def receive = Ractor.receive
  private def recv = Ractor.receive

  private def initialize_copy(_other)
    raise TypeError, "allocator undefined for Ractor"
  end

  # Whether both stand for the same Ractor.
  def ==(other) = Ractor === other && @__inbox == other.__inbox
  alias eql? ==
  # The same for equal Ractors.
  def hash = @__inbox.hash

  # Number, name, where it was made, and state.
  def inspect
    state = !@__vm ? "created" : @__vm.alive? ? "running" : "terminated"
    "#<Ractor:\##{@__vm&.id}#{" #{@name}" if @name}#{" #{@__place}" if @__place} #{state}>"
  end
  alias to_s inspect

  def __vm = @__vm
  def __inbox = @__inbox
  def __out = @__out

  def __taken
    @__ack.send(nil)
  rescue RubyVM::ClosedError
    nil
  end

  def __prepare(name, place)
    @name = name
    @__place = place
    @__inbox = RubyVM::Channel.new
    @__out = RubyVM::Channel.new
    @__ack = RubyVM::Channel.new
    @__port = Port.allocate.__adopt(@__inbox)
  end

  def __started(vm)
    @__vm = vm
    @__port.__own(vm)
    [@__inbox, @__out, @__ack].each { |channel| vm.__send__(:__close_at_end, channel) }
  end

  # In the new VM.
  def __run(args, block)
    @__vm = RubyVM.current
    @__port.__own(@__vm)
    Ractor.__begin(self)
    [instance_exec(*args, &block)]
  end

  def __receive
    aside = Ractor.__send__(:__set_aside)
    return aside.shift unless aside.empty?
    @__inbox.__send__(:__recv)
  rescue RubyVM::ClosedError
    raise ClosedError, "The port was already closed"
  end

  def __receive_if(block)
    raise ArgumentError, "no block given" unless block
    aside = Ractor.__send__(:__set_aside)
    i = 0
    while true
      while i < aside.size
        message = aside[i]
        if block.call(message)
          aside.delete_at(i)
          return message
        end
        i += 1
      end
      begin
        aside << @__inbox.__send__(:__recv)
      rescue RubyVM::ClosedError
        raise ClosedError, "The port was already closed"
      end
    end
  end

  def __yield(object, move)
    @__out.send(object, move: move)
    @__ack.__send__(:__recv)
    nil
  rescue RubyVM::ClosedError
    raise ClosedError, "The outgoing-port is already closed"
  end

  def __value
    raise @__failure if @__failure
    return @__result[0] if @__result
    begin
      # Nothing when another thread killed the Ractor's main thread.
      @__result = @__vm.value || [nil]
      cause = @__vm.__send__(:__exit)
    rescue RubyVM::Error => e
      cause = e.cause || e
    end
    return @__result[0] unless cause
    @__failure = RemoteError.new(ractor: self)
    raise @__failure, cause: cause
  end

  class << self
    private :__isolate, :__locals, :__set_aside, :__local_name
    alias __allocate allocate
    private :__allocate
    # TypeError: Ractors are made by `new`.
    def allocate = raise(TypeError, "allocator undefined for Ractor")
  end
end
