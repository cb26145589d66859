# nio4r's extension: selectors, monitors, buffers. A selector asks src/nio.rs for what is ready.
module NIO
  class Selector
    def self.backends = [:epoll]

    def initialize(backend = nil)
      raise ArgumentError, "unsupported backend: #{backend.inspect}" unless backend.nil? || Selector.backends.include?(backend)
      @selectables = {}
      @monitors = {}
      @count = 0
      @lock = ::Mutex.new
      @closed = false
      __open
    end

    def backend
      raise IOError, "selector is closed" if @closed
      :epoll
    end

    def register(io, interests)
      __synchronize do
        raise IOError, "selector is closed" if @closed
        raise ArgumentError, "this IO is already registered with selector" if @selectables.key?(io)
        monitor = Monitor.new(io, interests, self)
        @selectables[monitor.io] = monitor
      end
    end

    def deregister(io)
      __synchronize do
        monitor = @selectables.delete(io)
        monitor&.close(false)
        monitor
      end
    end

    def registered?(io) = @selectables.key?(io)

    # The monitors that are ready, or with a block how many there were; nil when the seconds are over.
    def select(timeout = nil)
      raise ArgumentError, "time interval must be positive" if timeout && Float(timeout) < 0
      __synchronize do
        raise IOError, "selector is closed" if @closed
        found = __wait(timeout) or return nil
        ready = []
        found.each_slice(2) do |id, events|
          monitor = @monitors[id] or next
          monitor.__events = events
          ready << monitor
        end
        next ready unless block_given?
        ready.each do |monitor|
          # The block may have closed those that follow.
          yield monitor unless monitor.closed?
        end
        ready.size
      end
    end

    def wakeup
      raise IOError, "selector is closed" if @closed
      __wake
      nil
    end

    def close
      __synchronize do
        @closed = true
        nil
      end
    end

    def closed? = __synchronize { @closed }
    def empty? = @selectables.empty?

    def __interest(monitor, fd, interests) # :nodoc:
      return if @closed
      @monitors[monitor.__id] = monitor
      __watch(fd, monitor.__id, interests)
    end

    def __forget(monitor, fd) # :nodoc:
      @monitors.delete(monitor.__id)
      __watch(fd, monitor.__id, 0) unless @closed
    end

    def __next = @count += 1 # :nodoc:

    # A lock that its holder may take again.
    private def __synchronize
      return yield if @lock.owned?
      @lock.synchronize { yield }
    end
  end

  class Monitor
    SYMBOLS = [nil, :r, :w, :rw].freeze
    private_constant :SYMBOLS

    attr_reader :io, :interests, :selector
    attr_accessor :value
    attr_reader :__id # :nodoc:
    attr_writer :__events # :nodoc:

    def initialize(io, interests, selector)
      bits = __bits(interests, "event type")
      stream = ::IO === io ? io : io.respond_to?(:to_io) ? io.to_io : nil
      raise TypeError, "can't convert #{io.class} into IO" unless ::IO === stream
      @io = io
      @fd = stream.fileno
      @interests = interests
      @events = 0
      @__events = 0
      @selector = selector
      @__id = selector.__next
      selector.__interest(self, @fd, bits)
    end

    def interests=(interests)
      __change(interests.nil? ? 0 : __bits(interests))
    end

    def add_interest(interest)
      __change(SYMBOLS.index(@interests) | __bits(interest))
    end

    def remove_interest(interest)
      __change(SYMBOLS.index(@interests) & ~__bits(interest))
    end

    def readiness = SYMBOLS[@__events]
    def readable? = @__events & 1 != 0
    def writable? = @__events & 2 != 0
    alias writeable? writable?
    def closed? = @selector.nil?

    def close(deregister = true)
      selector = @selector or return nil
      @selector = nil
      selector.__forget(self, @fd)
      selector.deregister(@io) if deregister.nil? || deregister == true
      nil
    end

    private def __bits(interests, what = "interest type")
      bits = SYMBOLS.index(interests)
      return bits if bits && bits > 0
      raise TypeError, "#{interests.inspect} is not a symbol" unless Symbol === interests
      raise ArgumentError, "invalid #{what} #{interests.inspect} (must be :r, :w, or :rw)"
    end

    private def __change(bits)
      raise EOFError, "monitor is closed" unless @selector
      @selector.__interest(self, @fd, bits)
      @interests = SYMBOLS[bits]
    end
  end

  class ByteBuffer
    include Enumerable

    OverflowError = Class.new(IOError)
    UnderflowError = Class.new(IOError)
    MarkUnsetError = Class.new(IOError)

    attr_reader :position, :limit, :capacity
    alias size capacity

    def initialize(capacity)
      raise TypeError, "no implicit conversion of #{capacity.class} into Integer" unless capacity.respond_to?(:to_int)
      @capacity = capacity.to_int
      raise ArgumentError, "negative capacity given" if @capacity < 0
      raise RangeError, "integer #{@capacity} too big to convert to 'int'" if @capacity > 0x7fff_ffff
      clear
    end

    def clear
      @buffer = "\0".b * @capacity
      @position = 0
      @limit = @capacity
      @mark = nil
      self
    end

    def position=(position)
      raise ArgumentError, "negative position given" if position < 0
      raise ArgumentError, "specified position exceeds limit" if position > @limit
      @mark = nil if @mark && @mark > position
      @position = position
    end

    def limit=(limit)
      raise ArgumentError, "negative limit given" if limit < 0
      raise ArgumentError, "specified limit exceeds capacity" if limit > @capacity
      @position = limit if @position > limit
      @mark = nil if @mark && @mark > limit
      @limit = limit
    end

    def remaining = @limit - @position
    def full? = @position == @limit

    def get(length = nil)
      length ||= remaining
      raise ArgumentError, "negative length given" if length < 0
      raise UnderflowError, "not enough data in buffer" if length > remaining
      found = @buffer.byteslice(@position, length)
      @position += length
      found
    end

    def [](index)
      raise ArgumentError, "negative index given" if index < 0
      raise ArgumentError, "specified index exceeds limit" if index >= @limit
      @buffer.getbyte(index)
    end

    def <<(text)
      raise TypeError, "no implicit conversion of #{text.class} into String" unless text.respond_to?(:to_str)
      text = text.to_str
      raise OverflowError, "buffer is full" if text.bytesize > remaining
      __put(text.b)
      self
    end

    # Bytes that were there to be read; 0 when there were none.
    def read_from(io)
      room = remaining
      raise OverflowError, "buffer is full" if room == 0
      found = __stream(io).read_nonblock(room, exception: false)
      return 0 if found.nil? || found == :wait_readable
      __put(found)
      found.bytesize
    end

    # Bytes that could be written at once.
    def write_to(io)
      raise UnderflowError, "no data remaining in buffer" if remaining == 0
      n = __stream(io).write_nonblock(@buffer.byteslice(@position, remaining), exception: false)
      return 0 if n == :wait_writable
      @position += n
      n
    end

    def flip
      @limit = @position
      @position = 0
      @mark = nil
      self
    end

    def rewind
      @position = 0
      @mark = nil
      self
    end

    def mark
      @mark = @position
      self
    end

    def reset
      raise MarkUnsetError, "mark has not been set" unless @mark
      @position = @mark
      self
    end

    def compact
      left = @buffer.byteslice(@position, remaining)
      @buffer.bytesplice(0, left.bytesize, left)
      @position = left.bytesize
      @limit = @capacity
      self
    end

    def each(&)
      raise ArgumentError, "no block given" unless block_given?
      @buffer.byteslice(0, @limit).each_byte(&)
      self
    end

    def inspect
      format("#<%s:0x%x @position=%d @limit=%d @capacity=%d>", self.class, object_id << 1, @position, @limit, @capacity)
    end

    private def __put(text)
      @buffer.bytesplice(@position, text.bytesize, text)
      @position += text.bytesize
    end

    private def __stream(io)
      stream = ::IO === io ? io : io.respond_to?(:to_io) ? io.to_io : nil
      ::IO === stream ? stream : raise(TypeError, "can't convert #{io.class} into IO")
    end
  end
end
