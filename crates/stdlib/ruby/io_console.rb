# io/console: what a terminal is asked and told (crates/stdlib/src/console.rs).
class IO
  private_constant :ConsoleSys

  # A terminal's mode.
  class ConsoleMode
    private_class_method :new

    def raw!(min: nil, time: nil, intr: nil)
      @bytes = ConsoleSys.raw(@bytes, min || 1, ((time || 0) * 10).to_i, intr ? true : false)
      self
    end

    def raw(**options) = dup.raw!(**options)

    def echo=(flag)
      @bytes = ConsoleSys.with_echo(@bytes, flag ? true : false)
    end

    def cooked!
      @bytes = ConsoleSys.cooked(@bytes)
      self
    end
    private :cooked!

    def inspect = "#<#{self.class}>"

    # Those of the terminal of a stream; the methods of IO ask and set them.
    def self.__of(io) = allocate.tap { |mode| mode.instance_variable_set(:@bytes, ConsoleSys.mode(io.fileno)) }
    def __set(io, flush = false) = ConsoleSys.set_mode(io.fileno, @bytes, flush)
    def __echo? = ConsoleSys.echo?(@bytes)
    private_class_method :__of
    private :__set, :__echo?
  end

  def console_mode = __ask { ConsoleMode.send(:__of, self) }

  def console_mode=(mode)
    raise TypeError, "wrong argument type #{mode.class} (expected IO::ConsoleMode)" unless mode.is_a?(ConsoleMode)
    __ask { mode.send(:__set, self) }
  end

  def raw(min: nil, time: nil, intr: nil)
    __with_mode(-> (mode) { mode.raw!(min: min, time: time, intr: intr) }) { yield self }
  end

  def raw!(min: nil, time: nil, intr: nil)
    self.console_mode = console_mode.raw!(min: min, time: time, intr: intr)
    self
  end

  def cooked = __with_mode(-> (mode) { mode.send(:cooked!) }) { yield self }

  def cooked!
    self.console_mode = console_mode.send(:cooked!)
    self
  end

  def noecho = __with_mode(-> (mode) { mode.echo = false }) { yield self }

  def echo=(flag)
    mode = console_mode
    mode.echo = flag
    self.console_mode = mode
  end

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

  def winsize = __ask { ConsoleSys.size(fileno) }

  def winsize=(size)
    size = Array(size)
    raise ArgumentError, "wrong number of arguments (given #{size.size}, expected 2 or 4)" unless [2, 4].include?(size.size)
    __ask { ConsoleSys.set_size(fileno, *size.map { |n| n || 0 }, *([0, 0] if size.size == 2)) }
  end

  def iflush = __drop(1)
  def oflush = __drop(2)
  def ioflush = __drop(3)

  def ttyname = ConsoleSys.name(fileno)

  def beep
    syswrite("\a")
    self
  end

  def goto(row, column)
    write("\e[#{row + 1};#{column + 1}H")
    self
  end

  def goto_column(column)
    write("\e[#{column + 1}G")
    self
  end

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

  def cursor_up(n) = __move(n, "A", "B")
  def cursor_down(n) = __move(n, "B", "A")
  def cursor_right(n) = __move(n, "C", "D")
  def cursor_left(n) = __move(n, "D", "C")
  def scroll_forward(n) = __move(n, "S", "T")
  def scroll_backward(n) = __move(n, "T", "S")
  def erase_line(mode) = __erase(mode, 0..2, "K")
  def erase_screen(mode) = __erase(mode, 0..3, "J")

  def clear_screen
    erase_screen(2)
    goto(0, 0)
  end

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

    def default_console_size = [ENV["LINES"].to_i.nonzero? || 25, ENV["COLUMNS"].to_i.nonzero? || 80]
  end
end
