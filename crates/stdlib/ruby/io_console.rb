# io/console: what a terminal is asked and told (crates/stdlib/src/console.rs).
class IO
  private_constant :ConsoleSys

  # A terminal's mode.
  class ConsoleMode
    private_class_method :new

    # Passes each key at once, unchanged. `min` and `time` (seconds) bound a read; with `intr: true` interrupts still work.
    def raw!(min: nil, time: nil, intr: nil)
      @bytes = ConsoleSys.raw(@bytes, min || 1, ((time || 0) * 10).to_i, intr ? true : false)
      self
    end

    # A copy of the mode that passes each key at once.
    def raw(**options) = dup.raw!(**options)

    # Sets whether keys are shown.
    def echo=(flag)
      @bytes = ConsoleSys.with_echo(@bytes, flag ? true : false)
    end

    def cooked!
      @bytes = ConsoleSys.cooked(@bytes)
      self
    end
    private :cooked!

    # The class.
    def inspect = "#<#{self.class}>"

    # Those of the terminal of a stream; the methods of IO ask and set them.
    def self.__of(io) = allocate.tap { |mode| mode.instance_variable_set(:@bytes, ConsoleSys.mode(io.fileno)) }
    def __set(io, flush = false) = ConsoleSys.set_mode(io.fileno, @bytes, flush)
    def __echo? = ConsoleSys.echo?(@bytes)
    private_class_method :__of
    private :__set, :__echo?
  end

  # The terminal's mode, an IO::ConsoleMode; Errno::ENOTTY if it is none.
  def console_mode = __ask { ConsoleMode.send(:__of, self) }

  # Sets the terminal's mode.
  def console_mode=(mode)
    raise TypeError, "wrong argument type #{mode.class} (expected IO::ConsoleMode)" unless mode.is_a?(ConsoleMode)
    __ask { mode.send(:__set, self) }
  end

  # Passes each key at once while the block runs; the mode is put back afterwards.
  def raw(min: nil, time: nil, intr: nil)
    __with_mode(-> (mode) { mode.raw!(min: min, time: time, intr: intr) }) { yield self }
  end

  # Lets the terminal pass each key at once from here on.
  def raw!(min: nil, time: nil, intr: nil)
    self.console_mode = console_mode.raw!(min: min, time: time, intr: intr)
    self
  end

  # Reads by lines, as terminals do, while the block runs; the mode is put back afterwards.
  def cooked = __with_mode(-> (mode) { mode.send(:cooked!) }) { yield self }

  # Lets the terminal read by lines from here on.
  def cooked!
    self.console_mode = console_mode.send(:cooked!)
    self
  end

  # Does not show keys while the block runs.
  def noecho = __with_mode(-> (mode) { mode.echo = false }) { yield self }

  # Sets whether keys are shown.
  def echo=(flag)
    mode = console_mode
    mode.echo = flag
    self.console_mode = mode
  end

  # Whether keys are shown.
  def echo? = console_mode.send(:__echo?)

  # The next character, read at once. For what is no terminal, that of `getc`.
  def getch(min: nil, time: nil, intr: nil)
    return getc unless tty?
    raw(min: min, time: time, intr: intr) do
      next getc unless min == 0 || time
      # A read without a wait is no end of the stream when it finds nothing.
      wait_readable(time || 0) && getc
    end
  end

  # A line that is not shown. The prompt goes to the terminal that it is read from.
  def getpass(prompt = nil)
    out = equal?($stdin) ? $stderr : self
    out.print prompt if prompt
    line = tty? ? noecho { gets("\n") } : gets("\n")
    out.puts
    line&.chomp("\n")
  end

  # `[rows, columns]` of the terminal.
  def winsize = __ask { ConsoleSys.size(fileno) }

  # Windows' way of asking for changes; NotImplementedError.
  def check_winsize_changed = raise(NotImplementedError, "check_winsize_changed() function is unimplemented on this machine")

  # Tells the terminal its size: rows and columns, and width and height in pixels if they are given.
  def winsize=(size)
    size = Array(size)
    raise ArgumentError, "wrong number of arguments (given #{size.size}, expected 2 or 4)" unless [2, 4].include?(size.size)
    __ask { ConsoleSys.set_size(fileno, *size.map { |n| n || 0 }, *([0, 0] if size.size == 2)) }
  end

  # Drops input that was not read yet.
  def iflush = __drop(1)
  # Drops output that was not written yet.
  def oflush = __drop(2)
  # Drops input and output that wait.
  def ioflush = __drop(3)

  # The file name of the terminal; nil if it is none.
  def ttyname = ConsoleSys.ttyname(fileno)

  # Rings the bell.
  def beep
    syswrite("\a")
    self
  end

  # Moves the cursor, from row 0 and column 0.
  def goto(row, column)
    write("\e[#{row + 1};#{column + 1}H")
    self
  end

  # Moves the cursor in its row, from column 0.
  def goto_column(column)
    write("\e[#{column + 1}G")
    self
  end

  # Moves the cursor to `[row, column]`.
  def cursor=(place)
    place = Array(place)
    raise ArgumentError, "expected 2D coordinate" unless place.size == 2
    goto(*place)
  end

  # [row, column] of the cursor, as the terminal answers.
  def cursor
    raw(min: 0, time: 0.5) do
      syswrite("\e[6n")
      answer = +""
      answer << getc until answer.end_with?("R") || !wait_readable(0.5)
      answer =~ /\e\[(\d+);(\d+)R/ && [$1.to_i - 1, $2.to_i - 1]
    end
  end

  # Moves the cursor `n` rows up.
  def cursor_up(n) = __move(n, "A", "B")
  # Moves the cursor `n` rows down.
  def cursor_down(n) = __move(n, "B", "A")
  # Moves the cursor `n` columns to the right.
  def cursor_right(n) = __move(n, "C", "D")
  # Moves the cursor `n` columns to the left.
  def cursor_left(n) = __move(n, "D", "C")
  # Moves the content of the screen `n` rows up.
  def scroll_forward(n) = __move(n, "S", "T")
  # Moves the content of the screen `n` rows down.
  def scroll_backward(n) = __move(n, "T", "S")
  # Erases in the cursor's line: 0 behind it, 1 before it, 2 all.
  def erase_line(mode) = __erase(mode, 0..2, "K")
  # Erases on the screen: 0 behind the cursor, 1 before it, 2 all, 3 also what has scrolled away.
  def erase_screen(mode) = __erase(mode, 0..3, "J")

  # Erases the screen, and moves the cursor to its corner.
  def clear_screen
    erase_screen(2)
    goto(0, 0)
  end

  # NotImplementedError: terminals do not tell.
  def pressed?(*) = raise(NotImplementedError, "pressed?() function is unimplemented on this machine")

  private

  # What the system refuses names the file.
  def __ask
    yield
  rescue SystemCallError => e
    raise path ? e.class.new(path) : e
  end

  def __with_mode(change)
    before = console_mode
    mode = before.dup
    change.call(mode)
    self.console_mode = mode
    begin
      yield
    ensure
      self.console_mode = before unless closed?
    end
  end

  def __drop(which)
    __ask { ConsoleSys.drop(fileno, which) }
    self
  end

  def __move(n, forward, backward)
    write("\e[#{n.abs}#{n < 0 ? backward : forward}") unless n == 0
    self
  end

  def __erase(mode, modes, letter)
    raise ArgumentError, "unknown erase mode" unless modes.include?(mode)
    write("\e[#{mode}#{letter}")
    self
  end

  class << self
    # The terminal of the process, or nil. A name calls that method of it; `:close` closes it.
    def console(name = nil, *arguments, **options)
      raise TypeError, "wrong argument type #{name.class} (expected Symbol)" unless name.nil? || name.is_a?(Symbol)
      if name == :close
        @__console&.close
        return @__console = nil
      end
      @__console = nil if @__console&.closed?
      @__console ||= begin
        File.open("/dev/tty", File::RDWR | File::NOCTTY).tap { |tty| tty.sync = true }
      rescue SystemCallError
        nil
      end
      name && @__console ? @__console.public_send(name, *arguments, **options) : @__console
    end

    # `[rows, columns]` by the environment variables LINES and COLUMNS, else 25 and 80.
    def default_console_size = [ENV["LINES"].to_i.nonzero? || 25, ENV["COLUMNS"].to_i.nonzero? || 80]
  end
end
