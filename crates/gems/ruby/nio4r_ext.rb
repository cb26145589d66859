# nio4r's extension: selectors, monitors, buffers. A selector asks src/nio.rs for what is ready.
module NIO
  class Selector
    # `[:epoll]`
    def self.backends = [:epoll]

    # A selector; ArgumentError for another backend than :epoll.
    def initialize(backend = nil)
      raise ArgumentError, "unsupported backend: #{backend.inspect}" unless backend.nil? || Selector.backends.include?(backend)
      @selectables = {}
      @monitors = {}
      @count = 0
      @lock = ::Mutex.new
      @closed = false
      __open
    end

    # :epoll; IOError if the selector is closed.
    def backend
      raise IOError, "selector is closed" if @closed
      :epoll
    end

    # Watches a stream for `:r`, `:w` or `:rw`, and answers its NIO::Monitor; ArgumentError if it is watched already.
    def register(io, interests)
      __synchronize do
        raise IOError, "selector is closed" if @closed
        raise ArgumentError, "this IO is already registered with selector" if @selectables.key?(io)
        monitor = Monitor.new(io, interests, self)
        @selectables[monitor.io] = monitor
      end
    end

    # Watches a stream no longer, and answers its monitor, or nil.
    def deregister(io)
      __synchronize do
        monitor = @selectables.delete(io)
        monitor&.close(false)
        monitor
      end
    end

    # Whether a stream is watched.
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

    # Lets `select` of another thread return at once.
    def wakeup
      raise IOError, "selector is closed" if @closed
      __wake
      nil
    end

    # Closes the selector.
    def close
      __synchronize do
        @closed = true
        nil
      end
    end

    # Whether the selector is closed.
    def closed? = __synchronize { @closed }
    # Whether no stream is watched.
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

    # `io`: The stream.
    # `interests`: What it is watched for: `:r`, `:w`, `:rw`, or nil.
    # `selector`: The selector; nil once the monitor is closed.
    attr_reader :io, :interests, :selector
    # `value`: Whatever the program wants to keep with it.
    attr_accessor :value
    attr_reader :__id # :nodoc:
    attr_writer :__events # :nodoc:

    # Watches a stream; `Selector#register` makes monitors.
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

    # Sets what the stream is watched for: `:r`, `:w`, `:rw`, or nil; EOFError if the monitor is closed.
    def interests=(interests)
      __change(interests.nil? ? 0 : __bits(interests))
    end

    # Watches the stream for something more.
    def add_interest(interest)
      __change(SYMBOLS.index(@interests) | __bits(interest))
    end

    # Watches the stream for something no longer.
    def remove_interest(interest)
      __change(SYMBOLS.index(@interests) & ~__bits(interest))
    end

    # What the stream is ready for: `:r`, `:w`, `:rw`, or nil.
    def readiness = SYMBOLS[@__events]
    # Whether the stream can be read.
    def readable? = @__events & 1 != 0
    # Whether the stream can be written.
    def writable? = @__events & 2 != 0
    alias writeable? writable?
    # Whether the monitor is closed.
    def closed? = @selector.nil?

    # Closes the monitor; with false the selector keeps the stream.
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

    # `position`: The byte that is read or written next.
    # `limit`: The byte behind the last that may be read or written.
    # `capacity`: The bytes of the buffer.
    attr_reader :position, :limit, :capacity
    alias size capacity

    # A buffer of so many bytes, which are 0.
    def initialize(capacity)
      raise TypeError, "no implicit conversion of #{capacity.class} into Integer" unless capacity.respond_to?(:to_int)
      @capacity = capacity.to_int
      raise ArgumentError, "negative capacity given" if @capacity < 0
      raise RangeError, "integer #{@capacity} too big to convert to 'int'" if @capacity > 0x7fff_ffff
      clear
    end

    # Makes all bytes 0, and begins anew.
    def clear
      @buffer = "\0".b * @capacity
      @position = 0
      @limit = @capacity
      @mark = nil
      self
    end

    # Sets the byte that is read or written next; ArgumentError beyond the limit.
    def position=(position)
      raise ArgumentError, "negative position given" if position < 0
      raise ArgumentError, "specified position exceeds limit" if position > @limit
      @mark = nil if @mark && @mark > position
      @position = position
    end

    # Sets the limit; ArgumentError beyond the capacity.
    def limit=(limit)
      raise ArgumentError, "negative limit given" if limit < 0
      raise ArgumentError, "specified limit exceeds capacity" if limit > @capacity
      @position = limit if @position > limit
      @mark = nil if @mark && @mark > limit
      @limit = limit
    end

    # The bytes between position and limit.
    def remaining = @limit - @position
    # Whether the position is at the limit.
    def full? = @position == @limit

    # The next bytes, `length` or all up to the limit; UnderflowError if there are not as many.
    def get(length = nil)
      length ||= remaining
      raise ArgumentError, "negative length given" if length < 0
      raise UnderflowError, "not enough data in buffer" if length > remaining
      found = @buffer.byteslice(@position, length)
      @position += length
      found
    end

    # The byte at a place as Integer; ArgumentError beyond the limit.
    def [](index)
      raise ArgumentError, "negative index given" if index < 0
      raise ArgumentError, "specified index exceeds limit" if index >= @limit
      @buffer.getbyte(index)
    end

    # Writes bytes; OverflowError if there is no room for them.
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

    # Sets the limit where it stands, and goes to the start: what was written can be read.
    def flip
      @limit = @position
      @position = 0
      @mark = nil
      self
    end

    # Goes to the start.
    def rewind
      @position = 0
      @mark = nil
      self
    end

    # Remembers the position for `reset`.
    def mark
      @mark = @position
      self
    end

    # Goes to the remembered position; MarkUnsetError if there is none.
    def reset
      raise MarkUnsetError, "mark has not been set" unless @mark
      @position = @mark
      self
    end

    # Moves what was not read to the start, and goes behind it: more can be written.
    def compact
      left = @buffer.byteslice(@position, remaining)
      @buffer.bytesplice(0, left.bytesize, left)
      @position = left.bytesize
      @limit = @capacity
      self
    end

    # Yields each byte up to the limit.
    def each(&)
      raise ArgumentError, "no block given" unless block_given?
      @buffer.byteslice(0, @limit).each_byte(&)
      self
    end

    # The class with position, limit and capacity.
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
