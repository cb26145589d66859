# TracePoint's switches. They are Ruby so that their caller goes on in instructions with marks (see interp/trace.rs).

class TracePoint
  # Begins to tell events: of all code, of a method, Proc or line (`target:`, `target_line:`), or of a thread; with a block while it runs. Answers whether it did so before, or what the block answers.
  def enable(target: nil, target_line: nil, target_thread: (no_thread = true; nil))
    target_thread = Thread.current if no_thread && block_given? && target.nil? && target_line.nil?
    was = __enable(target, target_line, target_thread)
    return was unless block_given?
    begin
      yield
    ensure
      __disable(false) unless was
    end
  end

  # Ends telling events, with a block while it runs. Answers whether it told them before, or what the block answers.
  def disable
    was = __disable(block_given?)
    return was unless block_given?
    begin
      yield
    ensure
      __enable(nil, nil, nil) if was
    end
  end

  # A TracePoint that tells events already.
  def self.trace(*events, &block)
    t = new(*events, &block)
    t.enable
    t
  end
end

class TracePoint
  # What gives a function of `set_trace_func` its events.
  def self.__of_function(function)
    raise TypeError, "trace_func needs to be Proc" unless Proc === function
    new(:line, :class, :end, :call, :return, :c_call, :c_return, :raise) do |e|
      name = e.event.to_s.sub("_", "-")
      owner = e.defined_class
      owner = owner.attached_object if Class === owner && owner.singleton_class?
      function.call(name, e.path, e.lineno, e.method_id, e.binding, owner)
    end
  end
  private_class_method :__of_function
end

module Kernel
  # Calls the Proc with each event of the program: its name, file, line, method, binding and class; nil ends that.
  def set_trace_func(function)
    if function.nil?
      TracePoint.__send__(:__function, nil)&.disable
      return nil
    end
    t = TracePoint.__send__(:__of_function, function)
    TracePoint.__send__(:__function, t)&.disable
    t.enable
    function
  end
  private :set_trace_func
end

class Thread
  # Calls the Proc with each event of the thread; nil ends that.
  def set_trace_func(function)
    t = TracePoint.__send__(:__of_function, function) unless function.nil?
    TracePoint.__send__(:__thread_functions, self, t).each(&:disable)
    t&.enable(target_thread: self)
    function
  end

  # Calls the Proc with each event of the thread, beside those that were set before.
  def add_trace_func(function)
    t = TracePoint.__send__(:__of_function, function)
    TracePoint.__send__(:__thread_functions, nil, t)
    t.enable(target_thread: self)
    function
  end
end
