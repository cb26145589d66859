# Coverage: which lines of the files that are loaded from now on ran.
module Coverage
  @state = :idle
  @reported = {}

  class << self
    def supported?(mode)
      raise TypeError, "wrong argument type #{mode.class} (expected Symbol)" unless mode.is_a?(Symbol)
      %i[lines oneshot_lines eval].include?(mode)
    end

    def setup(modes = nil, **options)
      raise "coverage measurement is already setup" unless @state == :idle
      if modes.nil? && options.empty?
        @modes = nil
      elsif modes == :all
        @modes = { lines: true, eval: true }
      else
        unless modes.nil? || modes.is_a?(Hash)
          raise TypeError, "no implicit conversion of #{modes.class} into Hash"
        end
        @modes = modes || options
        raise "cannot enable lines and oneshot_lines simultaneously" if @modes[:lines] && @modes[:oneshot_lines]
        unsupported = %i[branches methods].find { |mode| @modes[mode] }
        raise NotImplementedError, "coverage of #{unsupported} is not supported" if unsupported
      end
      @reported = {}
      eval_too = @modes && @modes[:eval]
      @trace = TracePoint.new(:script_compiled) do |tp|
        next if tp.eval_script && !eval_too
        code = tp.instruction_sequence
        lines = []
        collect = ->(part) do
          part.trace_points.each { |line, event| lines << line if event == :line }
          part.each_child(&collect)
        end
        collect.call(code)
        text = tp.eval_script
        last = text ? code.first_lineno - 1 + text.lines.size : File.foreach(code.path).count
        __watch(code.path, lines, last)
      end
      @trace.enable
      @state = :suspended
      nil
    end

    def start(modes = nil, **options)
      setup(modes, **options)
      resume
    end

    def resume
      raise "coverage measurement is not set up yet" if @state == :idle
      raise "coverage measurement is already running" if @state == :running
      __count(true)
      @state = :running
      nil
    end

    def suspend
      raise "coverage measurement is not running" unless @state == :running
      __count(false)
      @state = :suspended
      nil
    end

    def running? = @state == :running

    def peek_result
      raise "coverage measurement is not enabled" if @state == :idle
      counters = __counters
      return counters unless @modes
      counters.to_h do |path, lines|
        result = {}
        result[:lines] = lines if @modes[:lines]
        if @modes[:oneshot_lines]
          ran = lines.each_index.select { |i| lines[i].to_i > 0 }.map(&:succ)
          result[:oneshot_lines] = ran - @reported.fetch(path, [])
        end
        [path, result]
      end
    end

    # Without options: stops and forgets.
    def result(**options)
      stop, clear = options.empty? ? [true, true] : options.values_at(:stop, :clear)
      raise "coverage measurement is not enabled" if @state == :idle
      warn("stop implies clear", uplevel: 0) if stop && !clear
      result = peek_result
      if stop
        @trace.disable
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
