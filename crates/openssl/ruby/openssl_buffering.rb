# OpenSSL::Buffering: IO's methods over sysread and syswrite.
module OpenSSL
  module Buffering
    include Enumerable

    # What is read and not yet taken, as libraries know it.
    class Buffer < String
      undef_method :concat, :<<
    end

    # Bytes that are read at once.
    BLOCK_SIZE = 16 * 1024

    # `sync`: Whether what is written is sent at once.
    attr_accessor :sync

    # A stream with buffers over the object's own reading and writing.
    def initialize(...)
      super
      @rbuffer, @wbuffer = "".b, "".b
      @eof = false
      @sync = @io.respond_to?(:sync) ? @io.sync : true
    end

    # Reads a block; false at the end.
    private def fill
      return false if @eof
      @rbuffer << sysread(BLOCK_SIZE)
      true
    rescue EOFError
      @eof = true
      false
    end

    private def taken(size)
      return nil if @rbuffer.empty?
      return @rbuffer.slice!(0, @rbuffer.bytesize) if size >= @rbuffer.bytesize
      @rbuffer.slice!(0, size)
    end

    private def handed(text, buffer)
      return text unless buffer
      buffer.replace(text || "")
      text && buffer
    end

    # The next byte, or nil at the end.
    def getbyte = read(1)&.ord
    # The next byte; EOFError at the end.
    def readbyte = getbyte || raise(EOFError, "end of file reached")

    # All up to the end, or at most `size` bytes, nil at the end; a buffer is overwritten.
    def read(size = nil, buffer = nil)
      if size.nil?
        nil while fill
        return handed(@rbuffer.slice!(0, @rbuffer.bytesize), buffer)
      end
      raise ArgumentError, "negative length #{size} given" if size < 0
      return handed("".b, buffer) if size == 0
      nil while @rbuffer.bytesize < size && fill
      handed(taken(size), buffer)
    end

    # What is there, at most `size` bytes, else waits for it; EOFError at the end.
    def readpartial(size, buffer = nil)
      if size == 0
        return handed("".b, buffer)
      end
      # What is there, or one read.
      fill if @rbuffer.empty? && !@eof
      handed(taken(size), buffer) || raise(EOFError, "end of file reached")
    end

    # What is there, at most `size` bytes; else SSLErrorWaitReadable is raised, or `:wait_readable` the answer with `exception: false`.
    def read_nonblock(size, buffer = nil, exception: true)
      return handed("".b, buffer) if size == 0
      return handed(taken(size), buffer) unless @rbuffer.empty?
      sysread_nonblock(size, buffer, exception: exception)
    end

    # The next line with its separator (a text or a Regexp), at most `limit` bytes; nil at the end.
    def gets(separator = $/, limit = nil, chomp: false)
      separator, limit = $/, separator if separator.is_a?(Integer) && limit.nil?
      limit = nil if limit && limit < 0
      paragraph = separator == ""
      separator = "\n\n" if paragraph
      if paragraph
        fill if @rbuffer.empty?
        @rbuffer.slice!(0, 1) while (@rbuffer.start_with?("\n") || @rbuffer.empty? && fill)
      end
      from = 0
      stop =
        if separator
          pattern = separator.is_a?(Regexp)
          separator = separator.to_str.b unless pattern
          while true
            at = @rbuffer.index(separator, from)
            break at + (pattern ? $~[0].bytesize : separator.bytesize) if at
            break limit if limit && @rbuffer.bytesize >= limit
            from = pattern ? 0 : [@rbuffer.bytesize - separator.bytesize + 1, 0].max
            break @rbuffer.bytesize unless fill
          end
        else
          nil while (limit.nil? || @rbuffer.bytesize < limit) && fill
          @rbuffer.bytesize
        end
      stop = limit if limit && limit < stop
      return "".b if limit == 0
      line = taken(stop) or return nil
      line.chomp!(separator) if chomp && separator
      line
    end

    # The next line, as `gets` reads it; EOFError at the end.
    def readline(separator = $/, limit = nil, chomp: false) = gets(separator, limit, chomp: chomp) || raise(EOFError, "end of file reached")

    # An Array of the lines up to the end.
    def readlines(separator = $/, limit = nil, chomp: false)
      lines = []
      while (line = gets(separator, limit, chomp: chomp))
        lines << line
      end
      lines
    end

    # Yields each line; without a block an Enumerator.
    def each(separator = $/, limit = nil, chomp: false)
      return to_enum(:each, separator, limit, chomp: chomp) unless block_given?
      while (line = gets(separator, limit, chomp: chomp))
        yield line
      end
      self
    end
    alias each_line each

    # The next byte as text, or nil at the end.
    def getc = read(1)
    # The next byte as text; EOFError at the end.
    def readchar = getc || raise(EOFError, "end of file reached")
    # Yields each byte; without a block an Enumerator.
    def each_byte
      return to_enum(:each_byte) unless block_given?
      while (byte = getbyte)
        yield byte
      end
      self
    end
    # Puts a text back, which is read next.
    def ungetc(text)
      @rbuffer = (text.is_a?(Integer) ? text.chr : text).b << @rbuffer
      text
    end

    # Whether nothing is left to read; waits until that is known.
    def eof?
      fill if @rbuffer.empty? && !@eof
      @eof && @rbuffer.empty?
    end
    alias eof eof?

    # Output waits in @wbuffer unless the stream is synchronous; another thread may add to it while this one writes.
    private def put(text)
      if @sync && @wbuffer.empty?
        send_all(text)
      else
        @wbuffer << text
        send_waiting if @sync || @wbuffer.bytesize > BLOCK_SIZE
      end
    end
    private def send_waiting
      text, @wbuffer = @wbuffer, "".b
      send_all(text) unless text.empty?
    end
    private def send_all(text)
      until text.empty?
        n = syswrite(text)
        text = n == text.bytesize ? "" : text.byteslice(n..)
      end
    end

    # Writes objects as texts, and answers the number of their bytes.
    def write(*texts)
      texts.sum do |text|
        text = text.to_s
        text = text.b unless text.encoding == Encoding::BINARY
        put(text)
        text.bytesize
      end
    end

    # Writes what can be sent at once, and answers the number of bytes; else SSLErrorWaitWritable is raised, or `:wait_writable` the answer with `exception: false`.
    def write_nonblock(text, exception: true)
      flush
      syswrite_nonblock(text, exception: exception)
    end

    # Writes one object, and answers the stream.
    def <<(text)
      write(text)
      self
    end
    # Writes objects; answers nil.
    def print(*texts)
      write(texts.join)
      nil
    end
    # Writes a text by a format and values; answers nil.
    def printf(format, *args)
      write(format % args)
      nil
    end
    # Writes each object as a line; answers nil.
    def puts(*args)
      return (write("\n") && nil) if args.empty?
      lines = "".b
      args.each do |arg|
        lines << arg.to_s.b
        lines << "\n" unless lines.end_with?("\n")
      end
      write(lines)
      nil
    end

    # Sends what was written and waits.
    def flush
      send_waiting
      self
    end

    # Sends what was written, and closes the connection.
    def close
      begin
        flush
      rescue SystemCallError, IOError, OpenSSLError
        nil
      end
      sysclose
    end
  end

  module SSL
    # What connections and servers ask the socket below for.
    module SocketForwarder
      # :method: fileno: The file descriptor of the socket.
      # :method: addr: The address of this end, as `IPSocket#addr` gives it.
      # :method: peeraddr: The address of the other end, as `IPSocket#peeraddr` gives it.
      # :method: local_address: The address of this end as Addrinfo.
      # :method: remote_address: The address of the other end as Addrinfo.
      # :method: closed?: Whether the socket is closed.
      # :method: close_on_exec?: Whether programs that are started do not get the socket.
      # :method: timeout: The seconds after which waiting ends, or nil.
      %i[fileno addr peeraddr local_address remote_address closed? close_on_exec? timeout].each { |name| define_method(name) { @io.__send__(name) } }
      # :method: setsockopt(*args): Sets an option of the socket.
      # :method: getsockopt(*args): The value of an option of the socket.
      # :method: fcntl(*args): Asks the system for something of the socket.
      # :method: do_not_reverse_lookup=(on): Sets whether addresses are told as numbers.
      # :method: close_on_exec=(on): Sets whether programs that are started do not get the socket.
      # :method: timeout=(seconds): Sets the seconds after which waiting ends.
      # :method: wait(*args): Waits until the socket is ready.
      # :method: wait_readable(*args): Waits until something has come.
      # :method: wait_writable(*args): Waits until something can be sent.
      %i[setsockopt getsockopt fcntl do_not_reverse_lookup= close_on_exec= timeout= wait wait_readable wait_writable].each { |name| define_method(name) { |*args| @io.__send__(name, *args) } }
    end
  end
end
