# Coverage: which lines, methods and branches of the files that are loaded from now on ran.
module Coverage
  @state = :idle
  @reported = {}

  class << self
    # Whether there is a way of counting: `:lines`, `:oneshot_lines`, `:branches`, `:methods`, `:eval`. TypeError for what is no Symbol.
    def supported?(mode)
      raise TypeError, "wrong argument type #{mode.class} (expected Symbol)" unless mode.is_a?(Symbol)
      %i[lines oneshot_lines branches methods eval].include?(mode)
    end

    # Notes what is to be counted, of files that are loaded from here on: `:all`, or `lines: true` and the like; without an argument lines. RuntimeError if that was done.
    def setup(modes = nil, **options)
      raise "coverage measurement is already setup" unless @state == :idle
      if modes.nil? && options.empty?
        @modes = nil
      elsif modes == :all
        @modes = { lines: true, branches: true, methods: true, eval: true }
      else
        unless modes.nil? || modes.is_a?(Hash)
          raise TypeError, "no implicit conversion of #{modes.class} into Hash"
        end
        @modes = modes || options
        raise "cannot enable lines and oneshot_lines simultaneously" if @modes[:lines] && @modes[:oneshot_lines]
      end
      @reported = {}
      eval_too = @modes && @modes[:eval]
      __modes(true, @modes && @modes[:methods] ? true : false, @modes && @modes[:branches] ? true : false, eval_too ? true : false)
      @trace = TracePoint.new(:script_compiled) do |tp|
        code = tp.instruction_sequence
        next if tp.eval_script ? !eval_too : !File.file?(code.path)
        lines = []
        # Lines before the first one are counted backwards in 32 bits.
        signed = ->(line) { line < 2**31 ? line : line - 2**32 }
        collect = ->(part) do
          part.trace_points.each { |line, event| lines << line if event == :line }
          part.each_child(&collect)
        end
        collect.call(code)
        text = tp.eval_script
        last = text ? signed.call(code.first_lineno) - 1 + text.lines.size : File.foreach(code.path).count
        # An eval may begin before the first line.
        lines.select! { |line| line.between?(1, last) }
        next if last < 1
        __watch(code.path, lines, last)
      end
      @trace.enable
      @state = :suspended
      nil
    end

    # Counts from here on: `setup` and `resume`.
    def start(modes = nil, **options)
      setup(modes, **options)
      resume
    end

    # Counts from here on; RuntimeError before `setup`, or if it counts.
    def resume
      raise "coverage measurement is not set up yet" if @state == :idle
      raise "coverage measurement is already running" if @state == :running
      __count(true)
      @state = :running
      nil
    end

    # Counts no more until `resume`; RuntimeError if it does not count.
    def suspend
      raise "coverage measurement is not running" unless @state == :running
      __count(false)
      @state = :suspended
      nil
    end

    # Whether it counts.
    def running? = @state == :running
    # :idle, :suspended or :running.
    def state = @state

    # A Hash of what was counted so far, by file; RuntimeError before `setup`.
    def peek_result
      raise "coverage measurement is not enabled" if @state == :idle
      counters = __counters
      return counters unless @modes
      called = @modes[:methods] ? __calls : nil
      counters.to_h do |path, lines|
        result = {}
        result[:lines] = lines if @modes[:lines]
        if @modes[:oneshot_lines]
          ran = lines.each_index.select { |i| lines[i].to_i > 0 }.map(&:succ)
          result[:oneshot_lines] = ran - @reported.fetch(path, [])
        end
        result[:branches] = __ways(path) if @modes[:branches]
        result[:methods] = called.fetch(path, {}) if called
        [path, result]
      end
    end

    # Branches and arms are numbered in the order in which they stand in the result.
    private def __ways(path)
      number = -1
      __branches(path).to_h do |kind, *place, arms|
        branch = [kind, number += 1, *place]
        [branch, arms.to_h { |arm, *at, count| [[arm, number += 1, *at], count] }]
      end
    end

    # By path: calls of all methods that there are, by owner, name and place.
    private def __calls
      found = {}
      # Classes' singleton classes are not among all objects.
      owners = ObjectSpace.each_object(Module).flat_map { |owner| Class === owner && !owner.singleton_class? ? [owner, owner.singleton_class] : owner }
      owners.each do |owner|
        [*Module.instance_method(:instance_methods).bind_call(owner, false), *Module.instance_method(:private_instance_methods).bind_call(owner, false)].each do |name|
          method = Module.instance_method(:instance_method).bind_call(owner, name)
          path, *place, count = __called(method)
          (found[path] ||= {})[[method.owner, method.original_name, *place]] = count if path
        end
      end
      # In the order in which they stand in the file.
      found.transform_values { |methods| methods.sort_by { |(_, _, *place), _| place }.to_h }
    end

    # Without options: stops and forgets.
    def result(**options)
      stop, clear = options.empty? ? [true, true] : options.values_at(:stop, :clear)
      raise "coverage measurement is not enabled" if @state == :idle
      warn("stop implies clear", uplevel: 0) if stop && !clear
      result = peek_result
      if stop
        @trace.disable
        __modes(false, false, false, false)
        __count(false)
        __clear(true)
        @state = :idle
      elsif clear
        result.each { |path, r| (@reported[path] ||= []).concat(r[:oneshot_lines]) } if @modes && @modes[:oneshot_lines]
        __clear(false)
      end
      result
    end

    # Counters of a file as if none of it had run.
    def line_stub(file)
      lines = Array.new(File.foreach(file).count)
      collect = ->(code) do
        code.trace_points.each { |line, event| lines[line - 1] = 0 if event == :line }
        code.each_child(&collect)
      end
      collect.call(RubyVM::InstructionSequence.compile_file(file))
      lines
    end
  end
end
