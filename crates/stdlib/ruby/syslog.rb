# Syslog: messages for the system's log. The C library's openlog is one for the whole process, so name, options and mask are the VM's, and messages are written here, as
# openlog and syslog write them: a datagram for each (RFC 3164) to /dev/log.
module Syslog
  VERSION = "0.3.0"

  module Option
    { LOG_PID: 1, LOG_CONS: 2, LOG_ODELAY: 4, LOG_NDELAY: 8, LOG_NOWAIT: 16, LOG_PERROR: 32 }.each { |name, n| const_set(name, n) }
  end

  module Facility
    names = %i[KERN USER MAIL DAEMON AUTH SYSLOG LPR NEWS UUCP CRON AUTHPRIV FTP]
    names.each_with_index { |name, i| const_set(:"LOG_#{name}", i << 3) }
    8.times { |i| const_set(:"LOG_LOCAL#{i}", 16 + i << 3) }
  end

  LEVELS = %i[EMERG ALERT CRIT ERR WARNING NOTICE INFO DEBUG].freeze
  private_constant :LEVELS

  module Level
    %i[EMERG ALERT CRIT ERR WARNING NOTICE INFO DEBUG].each_with_index { |name, i| const_set(:"LOG_#{name}", i) }
  end

  module Macros
    # A module that gets the constants gets `LOG_MASK` and `LOG_UPTO` as functions, too.
    def self.included(target) = target.extend(self)
    # The mask of one level, and of all up to one.
    def LOG_MASK(level) = 1 << Macros.__send__(:number, level) # rubocop:disable Naming/MethodName
    # :nodoc:
    def LOG_UPTO(level) = (1 << Macros.__send__(:number, level) + 1) - 1 # rubocop:disable Naming/MethodName

    def self.number(value) = Integer.try_convert(value) || raise(TypeError, value.nil? ? "no implicit conversion from nil to integer" : "no implicit conversion of #{value.class} into Integer")
    private_class_method :number
  end

  module Constants
    include Macros, Option, Facility, Level

    # A module that gets the constants gets `LOG_MASK` and `LOG_UPTO` as functions, too.
    def self.included(target) = target.extend(Macros)
  end

  include Constants

  # One's socket, which a fork makes anew.
  PATH = "/dev/log"
  MONTHS = %w[Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec].freeze
  private_constant :PATH, :MONTHS

  @opened = false
  @mask = 0xff

  class << self
    include Constants

    # Whether the log is open.
    def opened? = @opened
    # Syslog itself.
    def instance = self

    # Opens the log: the name in front of messages, options (LOG_PID | LOG_CONS) and facility (LOG_USER). With a block it is closed when the block ends. RuntimeError if it is open.
    def open(ident = $0, options = nil, facility = nil)
      raise "syslog already open" if @opened
      @ident = (ident.nil? ? $0 : String.try_convert(ident) || raise(TypeError, "no implicit conversion of #{ident.class} into String")).dup.freeze
      @options = options.nil? ? LOG_PID | LOG_CONS : Integer(options)
      @facility = facility.nil? ? LOG_USER : Integer(facility)
      @opened = true
      connect if @options & LOG_NDELAY != 0
      return self unless block_given?
      begin
        yield self
      ensure
        close
      end
      self
    end

    # Closes the log and opens it anew.
    def reopen(*arguments, &block)
      close
      open(*arguments, &block)
    end
    alias open! reopen

    # Closes the log; RuntimeError if it is not open.
    def close
      raise "syslog not opened" unless @opened
      disconnect
      @opened = false
      @ident = @options = @facility = nil
    end

    # The name in front of messages; nil if the log is closed.
    def ident = @opened ? @ident : nil
    # The options, bits of LOG_ constants; nil if the log is closed.
    def options = @opened ? @options : nil
    # The facility; nil if the log is closed.
    def facility = @opened ? @facility : nil
    # The levels that are written, a bit for each; nil if the log is closed.
    def mask = @opened ? @mask : nil
    # Sets the levels that are written, as LOG_MASK and LOG_UPTO give them; RuntimeError if the log is closed.
    def mask=(mask)
      raise "must open syslog before setting log mask" unless @opened
      @mask = mask.is_a?(Numeric) ? mask.to_i : Macros.__send__(:number, mask)
    end

    # Writes a message of a level: a format as of `Kernel#format` and its values.
    def log(priority, *message)
      raise ArgumentError, "wrong number of arguments (given #{message.size + 1}, expected 2+)" if message.empty?
      raise TypeError, "type mismatch: #{priority.class} given" unless priority.is_a?(Integer)
      write(priority, message)
    end

    # :method: emerg(format, *values): Writes that the system can't be used.
    # :method: alert(format, *values): Writes that something has to be done at once.
    # :method: crit(format, *values): Writes a critical message.
    # :method: err(format, *values): Writes an error.
    # :method: warning(format, *values): Writes a warning.
    # :method: notice(format, *values): Writes something normal that matters.
    # :method: info(format, *values): Writes a message that informs.
    # :method: debug(format, *values): Writes a message for who looks for errors.
    LEVELS.each_with_index do |name, level|
      define_method(name.downcase) do |*message|
        raise ArgumentError, "wrong number of arguments (given 0, expected 1+)" if message.empty?
        write(level, message)
      end
    end

    # Whether the log is open, and its settings.
    def inspect
      return "<#Syslog: opened=false>" unless @opened
      "<#Syslog: opened=true, ident=#{@ident.inspect}, options=#{@options}, facility=#{@facility}, mask=#{@mask}>"
    end

    private

    def write(priority, message)
      raise "must open syslog before write" unless @opened
      text, *values = message
      raise TypeError, "no implicit conversion of #{text.nil? ? "nil" : text.class} into String" unless (text = String.try_convert(text))
      text = format(text, *values)
      if priority & ~0x3ff != 0
        deliver(LOG_ERR, "syslog: unknown facility/priority: #{priority.to_s(16)}")
        priority &= 0x3ff
      end
      deliver(priority, text)
      self
    end

    def deliver(priority, text)
      return if 1 << (priority & 7) & @mask == 0
      priority |= @facility if priority & 0x3f8 == 0
      now = Time.now
      tag = "#{@ident}#{"[#{Process.pid}]" if @options & LOG_PID != 0}"
      line = "#{tag}: #{text}".b
      STDERR.write(line.end_with?("\n") ? line : "#{line}\n") if @options & LOG_PERROR != 0
      time = format("%s %2d %02d:%02d:%02d", MONTHS[now.month - 1], now.day, now.hour, now.min, now.sec)
      return if send_to_log("<#{priority}>#{time} #{line}")
      console("#{time} #{line}\r\n") if @options & LOG_CONS != 0
    end

    # A daemon that was started anew has another socket.
    def send_to_log(packet)
      2.times do
        return false unless connect
        begin
          @stream ? @socket.write("#{packet}\0") : @socket.send(packet, 0)
          return true
        rescue SystemCallError, IOError
          disconnect
        end
      end
      false
    end

    def connect
      return true if @socket && @pid == Process.pid
      require "socket"
      [Socket::SOCK_DGRAM, Socket::SOCK_STREAM].each do |type|
        socket = Socket.new(Socket::AF_UNIX, type)
        socket.connect(Socket.sockaddr_un(PATH))
        @socket, @stream, @pid = socket, type == Socket::SOCK_STREAM, Process.pid
        return true
      rescue Errno::EPROTOTYPE
        socket.close
      rescue SystemCallError
        socket&.close
        return false
      end
      false
    end

    def disconnect
      @socket&.close
      @socket = nil
    rescue IOError
      @socket = nil
    end

    def console(text)
      File.open("/dev/console", File::WRONLY | File::NOCTTY) { |io| io.write(text) }
    rescue SystemCallError
      nil
    end
  end
end
